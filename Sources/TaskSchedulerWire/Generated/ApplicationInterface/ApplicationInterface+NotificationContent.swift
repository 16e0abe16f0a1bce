// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The content of a notification. Texts are UTF-8. The only control character that `title` and
  /// `body` may contain is the line feed.
  public struct NotificationContent: WireStructure {
    /// From 1 to 256 bytes.
    public var title: String
    /// At most 4096 bytes.
    public var body: String?
    /// A name from the freedesktop sound theme, such as message-new-instant (lower-case letters,
    /// digits, -, _ and dots), or the absolute path of a sound file. At most 1024 bytes, without
    /// control characters.
    public var sound: String?
    /// The application's badge after the notification has fired, at most 999999999; 0 removes it.
    public var badge: Int?
    /// Data that the user does not see, but the application receives. At most 4096 bytes.
    public var userData: String?

    public static let fieldNames = ["title", "body", "sound", "badge", "userData"]

    public init(
      title: String, body: String? = nil, sound: String? = nil, badge: Int? = nil,
      userData: String? = nil
    ) {
      self.title = title
      self.body = body
      self.sound = sound
      self.badge = badge
      self.userData = userData
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      title = try fields.required("title")
      body = try fields.optional("body")
      sound = try fields.optional("sound")
      badge = try fields.optional("badge")
      userData = try fields.optional("userData")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "title", title)
      object.append(field: "body", body)
      object.append(field: "sound", sound)
      object.append(field: "badge", badge)
      object.append(field: "userData", userData)
    }
  }
}
