// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// The media player org.mpris.MediaPlayer2.taskschedd. Through it, the user controls an
  /// application that is not itself a media player on the session bus.
  public struct PresentedPlayer: WireStructure {
    /// The application's id; null if there is no such application. The agent then releases the bus
    /// name.
    public var application: String?
    public var applicationName: String?
    public var playing: Bool

    public static let fieldNames = ["application", "applicationName", "playing"]

    public init(application: String? = nil, applicationName: String? = nil, playing: Bool) {
      self.application = application
      self.applicationName = applicationName
      self.playing = playing
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.optional("application")
      applicationName = try fields.optional("applicationName")
      playing = try fields.required("playing")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "applicationName", applicationName)
      object.append(field: "playing", playing)
    }
  }
}
