import LinuxSystem

/// The machine's time zone, as a folder such as /etc says.
struct MachineZone: Hashable {
  /// A zone of the tz database, `Europe/Berlin`; nil where only its rules are there.
  var name: String?
  /// Nil is UTC.
  var rules: TimeZoneRules?

  /// The names of the files that say it.
  static let files: Set<String> = ["localtime", "timezone"]

  private static let rulesBytesMax = 1 << 20
  private static let nameFileBytesMax = 4096

  /// Without `localtime` the machine's time is UTC, also for the C library.
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

  /// A zone without a name is known by its rules.
  func isSameZone(as other: MachineZone) -> Bool {
    name == other.name && (name != nil || rules == other.rules)
  }

  /// What comes after the folder of all zones: `/usr/share/zoneinfo/Europe/Berlin`.
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

/// Settings of the machine that go to applications and into the log.
enum SettingText {
  /// Whether something is made of ASCII letters, digits and some marks, and not too long for that.
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
