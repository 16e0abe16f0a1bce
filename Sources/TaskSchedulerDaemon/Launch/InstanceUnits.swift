import LinuxSystem
import TaskSchedulerCore

/// The names of the units that applications are launched in, and where their control groups are.
///
/// One is named `app-taskschedd-APPLICATION@INSTANCE-NUMBER.service`, as desktops name theirs
/// (`app-LAUNCHER-APPLICATION@RANDOM`). The number is random: a daemon that has lost its event log
/// counts instances anew. Units of an earlier version lack the launcher's name.
enum InstanceUnits {
  /// systemd's limit on a unit's name.
  private static let nameBytesMax = 255
  private static let prefix = "app-taskschedd-"

  /// The control group of the slice that holds all units of ours, and nobody else's. Its name is
  /// the slice's.
  ///
  /// - Parameter unit: the control group of our own service: below that of its manager, and of
  ///   slices.
  static func slice(of scope: ConfigurationPaths.Scope, besideUnit unit: ControlGroup)
    -> ControlGroup
  {
    var parts = unit.path.split(separator: "/").dropLast()
    while parts.last?.hasSuffix(".slice") == true { parts.removeLast() }
    let root = parts.map { "/" + $0 }.joined()
    switch scope {
    case .system: return ControlGroup(path: "\(root)/taskschedd.slice")
    // A slice lies in those that its name begins with.
    case .user: return ControlGroup(path: "\(root)/app.slice/app-taskschedd.slice")
    }
  }

  /// The name of a unit that there is not yet.
  static func newName(for application: ApplicationID, _ id: InstanceID) -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = String(generator.next() as UInt64, radix: 16)
    let number = String(repeating: "0", count: 16 - digits.count) + digits
    let end = "@\(id.number)-\(number).service"
    // In names of this kind a dash parts the words.
    let escaped = application.name.split(separator: "-", omittingEmptySubsequences: false)
      .joined(separator: "\\x2d")
    let room = nameBytesMax - prefix.utf8.count - end.utf8.count
    guard escaped.utf8.count > room else { return "\(prefix)\(escaped)\(end)" }
    // The longest ids end early: the name is for people, and another's end keeps it apart.
    return "\(prefix)\(application.name.split(separator: "-").joined().prefix(room))\(end)"
  }

  /// Whether `newName` gives such names.
  static func isInstance(_ name: String) -> Bool {
    instance(of: name) != nil
  }

  /// The instance that a unit of this name is of; nil for names of another kind.
  static func instance(of name: String) -> InstanceID? {
    guard name.hasPrefix("app-"), name.hasSuffix(".service") else { return nil }
    // By bytes: a new daemon asks this of each unit that there is, before it serves.
    let parts = name.utf8.dropFirst("app-".utf8.count).dropLast(".service".utf8.count)
      .split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    let numbers = parts[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard numbers.count == 2, numbers[1].count == 16,
      UInt64(Substring(numbers[1]), radix: 16) != nil
    else { return nil }
    return UInt64(Substring(numbers[0])).map { InstanceID($0) }
  }
}
