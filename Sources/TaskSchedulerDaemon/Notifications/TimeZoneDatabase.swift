import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// The tz database of the system.
///
/// The daemon reads the file of a zone, usually less than 4 KB, on each use. A changed rule
/// therefore applies as soon as the distribution's packages deliver it, without a restart.
/// Foundation's zones, in contrast, are compiled into the program, and libc knows one zone at a
/// time for the whole process.
struct TimeZoneDatabase {
  let path: String

  init(path: String = "/usr/share/zoneinfo") {
    self.path = path
  }

  /// The maximum size of a file. The largest zone file has 4 KB.
  private static let bytesMax = 256 << 10
  private static let nameBytesMax = 255

  /// Returns the rules of a zone, such as `Europe/Berlin`.
  func rules(_ name: String) throws(ScheduleError) -> TimeZoneRules {
    guard Self.isName(name) else { throw unknown(name) }
    let file: BoundedFile
    do {
      file = try BoundedFile(path: "\(path)/\(name)", bytesMax: Self.bytesMax)
    } catch {
      switch error {
      case .failed(let error):
        throw ScheduleError(
          field: .timeZone, "\(PrintableText.quoted(name)) cannot be read: \(error)")
      case .missing, .notAFile, .tooLarge: throw unknown(name)
      }
    }
    guard let rules = TimeZoneRules(file.bytes) else { throw unknown(name) }
    return rules
  }

  /// Returns whether a name consists of words of letters, digits, `_`, `-` and `+`, joined by `/`.
  /// Such a name cannot lead out of the directory.
  private static func isName(_ name: String) -> Bool {
    name.utf8.count <= nameBytesMax
      && name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .allSatisfy { !$0.isEmpty && $0.allSatisfy(isWordByte) }
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
      UInt8(ascii: "+"):
      true
    case _: false
    }
  }

  private func unknown(_ name: String) -> ScheduleError {
    let zones = "zones are named as in the tz database, such as Europe/Berlin"
    guard FileStatus(path: path)?.isDirectory == true else {
      return ScheduleError(
        field: .timeZone,
        "\(PrintableText.quoted(name)) is not known: this machine has no tz database at \(path)")
    }
    let hint = nearest(to: name).map { ". Did you mean \($0)?" } ?? ": \(zones)"
    return ScheduleError(
      field: .timeZone, "\(PrintableText.quoted(name)) is not a time zone\(hint)")
  }

  /// Returns a suggestion for a name that is not a zone; nil if there is none.
  ///
  /// If `name` is the city of exactly one zone in `zone.tab`, returns that zone. Otherwise,
  /// searches the zones of `zone.tab` and `UTC` for a similar name.
  private func nearest(to name: String) -> String? {
    guard name.utf8.count <= Self.nameBytesMax,
      let table = try? BoundedFile(path: "\(path)/zone.tab", bytesMax: Self.bytesMax)
    else { return nil }
    let listed = table.bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 3)
      return line.first == UInt8(ascii: "#") || fields.count < 3
        ? nil : String(decoding: fields[2], as: UTF8.self)
    }
    let wanted = String(name.map { $0 == " " ? "_" : $0 })
    let ofCity = listed.filter { zone in
      zone.split(separator: "/").last?.lowercased() == wanted.lowercased()
    }
    if ofCity.count == 1 { return ofCity[0] }
    // Only zones with the same first letter are compared, because the comparison is slow.
    let candidates = (listed + ["UTC"]).filter { $0.first == wanted.first?.uppercased().first }
    return nearestName(to: wanted, among: candidates)
  }
}
