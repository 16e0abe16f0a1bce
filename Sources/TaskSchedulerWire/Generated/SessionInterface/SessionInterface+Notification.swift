// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A notification that the agent must show.
  public struct Notification: WireStructure {
    /// Unique within the daemon. A notification with the same id replaces the earlier one.
    public var id: Int
    /// The time at which it fired, in nanoseconds since 1970. The agent shows a notification once
    /// for each firing, however often the daemon sends it.
    public var firedAt: Int
    public var application: String
    /// The name from the application's manifest.
    public var applicationName: String?
    /// A name from the icon theme, or the absolute path of an image.
    public var icon: String?
    public var title: String
    public var body: String?
    /// A name from the freedesktop sound theme, or the absolute path of a sound file. The value
    /// `default` means the sound that the notification service chooses.
    public var sound: String?
    public var urgency: Urgency
    /// A category of the Desktop Notifications Specification, such as im.received.
    public var category: String?
    /// The actions that the user can choose in addition to the notification itself.
    public var actions: [NotificationAction]
    /// Set for a notification that an agent has shown before. If the same notification service
    /// still runs, the agent makes this service show the notification again at the same place,
    /// without a sound. Otherwise the agent reports the notification as closed.
    public var shown: ShownNotification?

    public static let fieldNames = [
      "id", "firedAt", "application", "applicationName", "icon", "title", "body", "sound",
      "urgency", "category", "actions", "shown",
    ]

    public init(
      id: Int, firedAt: Int, application: String, applicationName: String? = nil,
      icon: String? = nil, title: String, body: String? = nil, sound: String? = nil,
      urgency: Urgency, category: String? = nil, actions: [NotificationAction],
      shown: ShownNotification? = nil
    ) {
      self.id = id
      self.firedAt = firedAt
      self.application = application
      self.applicationName = applicationName
      self.icon = icon
      self.title = title
      self.body = body
      self.sound = sound
      self.urgency = urgency
      self.category = category
      self.actions = actions
      self.shown = shown
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      firedAt = try fields.required("firedAt")
      application = try fields.required("application")
      applicationName = try fields.optional("applicationName")
      icon = try fields.optional("icon")
      title = try fields.required("title")
      body = try fields.optional("body")
      sound = try fields.optional("sound")
      urgency = try fields.required("urgency")
      category = try fields.optional("category")
      actions = try fields.required("actions")
      shown = try fields.optional("shown")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "firedAt", firedAt)
      object.append(field: "application", application)
      object.append(field: "applicationName", applicationName)
      object.append(field: "icon", icon)
      object.append(field: "title", title)
      object.append(field: "body", body)
      object.append(field: "sound", sound)
      object.append(field: "urgency", urgency)
      object.append(field: "category", category)
      object.append(field: "actions", actions)
      object.append(field: "shown", shown)
    }
  }
}
