import LinuxSystem

extension Daemon {
  /// The options of the command line.
  public struct Arguments {
    public var paths: ConfigurationPaths
    /// The path of the socket that the daemon creates if systemd passes no socket.
    public var socketPath: String
    /// The directory of the event log; nil for no event log.
    public var eventLogPath: String?
    /// The directory of the data that survives a reboot; nil to store no such data.
    public var statePath: String?
    public var logTarget: Log.Target
    /// The kernel's files about memory and memory pressure.
    public var memInfo = "/proc/meminfo"
    public var memoryPressure = "/proc/pressure/memory"
    /// The address of the message bus to use instead of the system bus; nil for the system bus.
    public var systemBus: String?

    public init(
      paths: ConfigurationPaths, socketPath: String, eventLogPath: String?, statePath: String?,
      logTarget: Log.Target
    ) {
      self.paths = paths
      self.socketPath = socketPath
      self.eventLogPath = eventLogPath
      self.statePath = statePath
      self.logTarget = logTarget
    }
  }
}
