import LinuxSystem

extension Daemon {
  /// What the command line says.
  public struct Arguments {
    public var paths: ConfigurationPaths
    /// Where to listen, where systemd hands no socket over.
    public var socketPath: String
    /// The directory of the event log; nil keeps none.
    public var eventLogPath: String?
    /// The directory of the data that outlives a boot; nil keeps none.
    public var statePath: String?
    /// The addresses of the users' session buses; nil shows no notifications.
    public var desktops: DesktopAddresses?
    public var logTarget: Log.Target
    /// Where the kernel tells of memory, and of the pressure on it.
    public var memInfo = "/proc/meminfo"
    public var memoryPressure = "/proc/pressure/memory"

    public init(
      paths: ConfigurationPaths, socketPath: String, eventLogPath: String?, statePath: String?,
      desktops: DesktopAddresses?, logTarget: Log.Target
    ) {
      self.paths = paths
      self.socketPath = socketPath
      self.eventLogPath = eventLogPath
      self.statePath = statePath
      self.desktops = desktops
      self.logTarget = logTarget
    }
  }
}
