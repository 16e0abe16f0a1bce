import LinuxSystem

/// The machine's time zone, as defined in a directory such as /etc.
struct MachineZone: Hashable {
  /// The name in the tz database, like `Europe/Berlin`; nil if only the rules are known.
  var name: String?
  /// The rules; nil for UTC.
  var rules: TimeZoneRules?

  /// The names of the files that define the zone.
  static let files: Set<String> = ["localtime", "timezone"]

  private static let rulesBytesMax = 1 << 20
  private static let nameFileBytesMax = 4096

  /// Reads the zone. Without `localtime` the zone is UTC, as for the C library.
  init(etc: String) {
    let path = etc + "/localtime"
    let file = try? BoundedFile(path: path, bytesMax: Self.rulesBytesMax)
    rules = file.flatMap { TimeZoneRules($0.bytes) }
    if let target = SymbolicLink.target(of: path) {
      name = Self.name(in: target)
    } else if file == nil {
      name = "UTC"
    } else if let text = try? BoundedFile(
      path: etc + "/timezone", bytesMax: Self.nameFileBytesMax)
    {
      let line = String(decoding: text.bytes, as: UTF8.self).prefix { !$0.isWhitespace }
      name = Self.isName(line) ? String(line) : nil
    }
  }

  /// Returns whether this is the same zone. Compares zones without a name by their rules.
  func isSameZone(as other: MachineZone) -> Bool {
    name == other.name && (name != nil || rules == other.rules)
  }

  /// Returns the name of the zone in the path of a zone file: `Europe/Berlin` for
  /// `/usr/share/zoneinfo/Europe/Berlin`.
  private static func name(in target: String) -> String? {
    let folder = "zoneinfo"
    let parts = target.split(separator: "/")
    guard let place = parts.lastIndex(where: { $0 == folder }) else { return nil }
    let name = parts[(place + 1)...].joined(separator: "/")
    return isName(Substring(name)) ? name : nil
  }

  private static func isName(_ text: Substring) -> Bool {
    SettingText.isName(text, marks: "/_+-")
  }
}

/// Checks texts from the machine's settings before the daemon passes them to applications and to
/// the log.
enum SettingText {
  /// Returns whether a text consists of 1 to 255 ASCII letters, digits and the given marks.
  static func isName(_ text: Substring, marks: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        case _:
          marks.utf8.contains(byte)
        }
      }
  }
}
