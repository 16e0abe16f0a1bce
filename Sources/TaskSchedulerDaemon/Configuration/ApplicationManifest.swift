import LinuxSystem
import TaskSchedulerCore

/// A manifest, with everything that the daemon needs to launch an application.
public struct ApplicationManifest: Equatable, Sendable {
  public var id: ApplicationID
  /// `name`: the name that users see.
  public var displayName: String?
  /// `command`: the program (an absolute path, or a name to find in PATH) and its arguments; empty
  /// if the daemon cannot launch the application.
  public var command: [String] = []
  /// `environment`: variables for the program, in addition to those that the daemon sets.
  public var environment: [String: String] = [:]
  /// `working-directory`: the directory in which the program starts; nil for the user's home
  /// directory.
  public var workingDirectory: String?
  /// `background-modes`, in the contract's order.
  public var backgroundModes: [BackgroundMode] = []
  /// `location`: the location services that the application may request, in the contract's order.
  public var locationServices: [LocationService] = []
  /// `location-purpose`: what the application does with the location. The question to the user
  /// contains this text.
  public var locationPurpose: String?
  /// `multitasking`: false if the application opts out of running in the background.
  public var multitasking = true
  /// `user`: the user that the application runs as; nil for the daemon's own user.
  public var account: User?
  /// `seat`: the seat; nil for the seat of the user.
  public var seat: SeatID?
  /// `suspend-mechanism`: how the daemon suspends the application; nil for the daemon's setting.
  public var suspendMechanism: SuspendMechanism?
  /// `stop-signal`: the signal that asks the application to exit; SIGTERM by default.
  public var stopSignal = Signal.terminate
  /// The path of the manifest.
  public var file: String

  public init(id: ApplicationID, file: String) {
    self.id = id
    self.file = file
  }

  /// Returns the part of the manifest that the scheduler needs.
  ///
  /// - Parameter daemonUser: The daemon's own uid.
  public func manifest(daemonUser: UserID) -> Manifest {
    let owner = account.map { UserID($0.uid) } ?? daemonUser
    return Manifest(
      id: id, displayName: displayName, owner: owner,
      namesUser: account != nil, backgroundModes: backgroundModes,
      locationServices: locationServices, multitasking: multitasking,
      isLaunchable: !command.isEmpty, seat: seat ?? DefaultSeats().ofUser(owner.uid),
      namesSeat: seat != nil, stopSignal: stopSignal)
  }

  /// Returns the path of the program, which is the first element of `command`.
  ///
  /// Searches the manifest's PATH, or `searchPath` (directories separated by colons) if the
  /// manifest sets no PATH. Returns an absolute path unchanged, and nil if no directory contains an
  /// executable file of that name.
  public func executable(searchPath: String) -> String? {
    guard let program = command.first else { return nil }
    return Self.executable(program, searchPath: environment["PATH"] ?? searchPath)
  }

  /// Returns the path of a program that a manifest names in `command`.
  static func executable(_ program: String, searchPath: String) -> String? {
    if program.hasPrefix("/") { return program }
    // The loop skips relative directories: the result for them would depend on the daemon's working
    // directory.
    for folder in searchPath.split(separator: ":") where folder.hasPrefix("/") {
      let path = "\(folder)/\(program)"
      if Directory.isExecutableFile(path: path) { return path }
    }
    return nil
  }
}
