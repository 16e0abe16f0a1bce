// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A stream of the audio server.
  public struct AudioStream: WireStructure {
    /// The number that the server gave the stream. A playback stream and a recording stream may
    /// have the same number. Orders name playback streams only.
    public var id: Int
    public var direction: AudioDirection
    public var role: AudioRole
    /// The volume of the loudest channel; 65536 is 100 %. 0 for a recording stream.
    public var volume: Int
    /// The process that holds the stream.
    public var pid: Int
    /// The start time of the process in clock ticks since boot: field 22 of /proc/PID/stat. If the
    /// process has another start time, the stream belongs to no application.
    public var startTime: Int
    /// True if the client told the server its pid. The daemon then checks that the process is
    /// connected to the server. False if the server read the pid from the client's socket.
    public var claimed: Bool
    /// True if the stream is not paused and is connected to a device. The volume of a playback
    /// stream must also be above zero.
    public var running: Bool
    public var muted: Bool
    /// True if the stream played only silence in the last second. False if the daemon has not
    /// ordered the agent to measure the stream.
    public var silent: Bool
    /// The number of the entry in which the server remembers the mute and the volume of the stream,
    /// from 1 to 4294967295. A new stream begins with the mute and the volume of its entry. 0 if
    /// the server remembers nothing.
    public var memory: Int

    public static let fieldNames = [
      "id", "direction", "role", "volume", "pid", "startTime", "claimed", "running", "muted",
      "silent", "memory",
    ]

    public init(
      id: Int, direction: AudioDirection, role: AudioRole, volume: Int, pid: Int, startTime: Int,
      claimed: Bool, running: Bool, muted: Bool, silent: Bool, memory: Int
    ) {
      self.id = id
      self.direction = direction
      self.role = role
      self.volume = volume
      self.pid = pid
      self.startTime = startTime
      self.claimed = claimed
      self.running = running
      self.muted = muted
      self.silent = silent
      self.memory = memory
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      direction = try fields.required("direction")
      role = try fields.required("role")
      volume = try fields.required("volume")
      pid = try fields.required("pid")
      startTime = try fields.required("startTime")
      claimed = try fields.required("claimed")
      running = try fields.required("running")
      muted = try fields.required("muted")
      silent = try fields.required("silent")
      memory = try fields.required("memory")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "direction", direction)
      object.append(field: "role", role)
      object.append(field: "volume", volume)
      object.append(field: "pid", pid)
      object.append(field: "startTime", startTime)
      object.append(field: "claimed", claimed)
      object.append(field: "running", running)
      object.append(field: "muted", muted)
      object.append(field: "silent", silent)
      object.append(field: "memory", memory)
    }
  }
}
