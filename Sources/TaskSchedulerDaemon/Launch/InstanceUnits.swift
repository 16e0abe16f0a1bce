import LinuxSystem
import TaskSchedulerCore

/// The units in which the daemon launches applications: their names and their control groups.
///
/// A unit is named `app-taskschedd-APPLICATION@INSTANCE-NUMBER.service`, in the form that desktops
/// use (`app-LAUNCHER-APPLICATION@RANDOM`). If a daemon has lost its event log, it numbers
/// instances from 1 again. NUMBER is random, so that the name of a new unit still differs from the
/// names of earlier units.
enum InstanceUnits {
  /// systemd's limit on the length of a unit's name, in bytes.
  private static let nameBytesMax = 255
  private static let prefix = "app-taskschedd-"

  /// Returns the control group of the slice for the units that the daemon launches. The slice
  /// contains no other units. The group has the name of the slice.
  ///
  /// - Parameter unit: The control group of the daemon's own service. The function takes the path
  ///   of the service manager's group from it.
  static func slice(of scope: ConfigurationPaths.Scope, besideUnit unit: ControlGroup)
    -> ControlGroup
  {
    var parts = unit.path.split(separator: "/").dropLast()
    while parts.last?.hasSuffix(".slice") == true { parts.removeLast() }
    let root = parts.map { "/" + $0 }.joined()
    switch scope {
    case .system: return ControlGroup(path: "\(root)/taskschedd.slice")
    // The name `app-taskschedd.slice` makes systemd place this slice inside `app.slice`
    // (systemd.slice(5)).
    case .user: return ControlGroup(path: "\(root)/app.slice/app-taskschedd.slice")
    }
  }

  /// Returns a name that no unit has yet.
  static func newName(for application: ApplicationID, _ id: InstanceID) -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = String(generator.next() as UInt64, radix: 16)
    let number = String(repeating: "0", count: 16 - digits.count) + digits
    let end = "@\(id.number)-\(number).service"
    // A dash separates the parts of a unit's name, so each dash in the application's id is escaped.
    let escaped = application.name.split(separator: "-", omittingEmptySubsequences: false)
      .joined(separator: "\\x2d")
    let room = nameBytesMax - prefix.utf8.count - end.utf8.count
    guard escaped.utf8.count > room else { return "\(prefix)\(escaped)\(end)" }
    // Only very long ids are shortened. A shortened id still tells users which application runs.
    // The random number at the end makes the name unique.
    return "\(prefix)\(application.name.split(separator: "-").joined().prefix(room))\(end)"
  }

  /// Returns whether a name has the form of the names that `newName` creates.
  static func isInstance(_ name: String) -> Bool {
    instance(of: name) != nil
  }

  /// Returns the instance of the unit with this name; nil for names of another form.
  static func instance(of name: String) -> InstanceID? {
    guard name.hasPrefix("app-"), name.hasSuffix(".service") else { return nil }
    // The code compares bytes for speed: a starting daemon parses the name of each unit before it
    // serves clients.
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
