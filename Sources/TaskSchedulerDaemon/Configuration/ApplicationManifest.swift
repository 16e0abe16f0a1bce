import LinuxSystem
import TaskSchedulerCore

/// What a manifest says of an application: all that launching it needs.
public struct ApplicationManifest: Hashable, Sendable {
  public var id: ApplicationID
  /// `name`: for people.
  public var displayName: String?
  /// `command`: the program (an absolute path, or a name to be found in PATH) and its arguments;
  /// empty where the manifest does not say how to launch it.
  public var command: [String] = []
  /// `environment`: set for the program beside what the daemon sets.
  public var environment: [String: String] = [:]
  /// `working-directory`: nil for the user's home.
  public var workingDirectory: String?
  /// `background-modes`, in the contract's order.
  public var backgroundModes: [BackgroundMode] = []
  /// `multitasking`: false where it opts out.
  public var multitasking = true
  /// `user`: whom it runs as; nil for the daemon's own user.
  public var account: User?
  /// `seat`: nil for the seat of the user that it runs as.
  public var seat: SeatID?
  /// `suspend-mechanism`: nil for the daemon's setting.
  public var suspendMechanism: SuspendMechanism?
  /// `stop-signal`: what asks it to end, in place of SIGTERM.
  public var stopSignal = Signal.terminate
  /// The path of the manifest.
  public var file: String

  public init(id: ApplicationID, file: String) {
    self.id = id
    self.file = file
  }

  /// What the policy needs to know of it.
  ///
  /// - Parameters:
  ///   - daemonUser: the daemon's own uid.
  ///   - isUserDaemon: whether it is a user's own daemon.
  public func manifest(daemonUser: UserID, isUserDaemon: Bool = false) -> Manifest {
    let owner = account.map { UserID($0.uid) } ?? daemonUser
    let usual = DefaultSeats(isUserDaemon: isUserDaemon).ofUser(owner.uid)
    return Manifest(
      id: id, displayName: displayName, owner: owner,
      namesUser: account != nil, backgroundModes: backgroundModes, multitasking: multitasking,
      isLaunchable: !command.isEmpty, seat: seat ?? usual, namesSeat: seat != nil,
      stopSignal: stopSignal)
  }

  /// The program's path: `command`'s first, looked for in the manifest's own PATH or else in
  /// `searchPath` (folders joined by colons). Nil when no folder holds such a program that may be
  /// executed; an absolute path is returned as it is.
  public func executable(searchPath: String) -> String? {
    guard let program = command.first else { return nil }
    return Self.executable(program, searchPath: environment["PATH"] ?? searchPath)
  }

  /// The path of a program that is named as in `command`.
  static func executable(_ program: String, searchPath: String) -> String? {
    if program.hasPrefix("/") { return program }
    // Only absolute folders count: others would depend on where the daemon stands.
    for folder in searchPath.split(separator: ":") where folder.hasPrefix("/") {
      let path = "\(folder)/\(program)"
      if Folder.isExecutableFile(path: path) { return path }
    }
    return nil
  }
}
