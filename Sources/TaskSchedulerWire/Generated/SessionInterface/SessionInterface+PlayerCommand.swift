// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A command that the agent must send to a media player. `player` is the name of the player.
  public struct PlayerCommand: WireStructure {
    public var player: String
    public var command: RemoteCommand
    /// Set only with seek: how far to move the playback position. A negative value moves it
    /// backwards.
    public var offsetUSec: Int?

    public static let fieldNames = ["player", "command", "offsetUSec"]

    public init(player: String, command: RemoteCommand, offsetUSec: Int? = nil) {
      self.player = player
      self.command = command
      self.offsetUSec = offsetUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      player = try fields.required("player")
      command = try fields.required("command")
      offsetUSec = try fields.optional("offsetUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "player", player)
      object.append(field: "command", command)
      object.append(field: "offsetUSec", offsetUSec)
    }
  }
}
