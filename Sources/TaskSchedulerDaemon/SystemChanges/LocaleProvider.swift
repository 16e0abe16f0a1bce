import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A provider that reports a change of the machine's locale, from the files that define it
/// (locale.conf(5)).
///
/// The provider does not use org.freedesktop.locale1. localectl writes these files through that
/// service, but an editor writes the files directly. Besides, the service runs only on demand.
final class LocaleProvider: SystemChangeProvider {
  let subject = "the locale"
  private let loop: EventLoop
  private let etc: String
  private let report: SystemChangeReport
  private var folders: Folders?
  private var burst: DebouncedWatch?
  /// The number of times that the provider has read the settings after a burst.
  private(set) var readCount = 0
  /// The settings in the last report, or at the start.
  private var settings: [String: String] = [:]

  private final class Folders {
    let watch: DirectoryWatch
    init() throws(SystemError) { watch = try DirectoryWatch() }
  }

  /// The names of the entries in /etc and /etc/default whose changes may change the locale. The
  /// empty name stands for a change of the watched directory itself.
  private static let names: Set<String> = ["", "locale.conf", "default", "locale"]
  private static let fileBytesMax = 65536

  init(loop: EventLoop, etc: String, report: @escaping SystemChangeReport) {
    self.loop = loop
    self.etc = etc
    self.report = report
  }

  var slowToClose: Int32? { folders?.watch.descriptor.rawValue }

  func start() throws(SystemError) {
    let folders = try Folders()
    _ = try folders.watch.add(etc)
    watchDefaults(folders)
    self.folders = folders
    settings = Self.settings(etc: etc)
    burst = try DebouncedWatch(
      folders.watch.descriptor.rawValue, loop: loop,
      take: {
        guard let changes = try? folders.watch.takeChanges() else { return true }
        return changes.contains { $0.folder == nil || Self.names.contains($0.name) }
      },
      becameQuiet: { [weak self] in self?.read(folders) })
  }

  /// Watches `/etc/default`, the directory of Debian's locale file. Other systems may not have this
  /// directory.
  private func watchDefaults(_ folders: Folders) {
    _ = try? folders.watch.add(etc + "/default")
  }

  private func read(_ folders: Folders) {
    readCount += 1
    // Another program may have created or replaced the directory.
    watchDefaults(folders)
    let present = Self.settings(etc: etc)
    guard present != settings else { return }
    settings = present
    report(SystemChange(kind: .locale, value: present["LANG"]))
  }

  /// Returns the locale variables with which the machine starts its services. Without
  /// `locale.conf`, reads `default/locale`, as Debian's services do.
  static func settings(etc: String) -> [String: String] {
    for name in ["locale.conf", "default/locale"] {
      if let file = try? BoundedFile(path: "\(etc)/\(name)", bytesMax: fileBytesMax) {
        return settings(in: String(decoding: file.bytes, as: UTF8.self))
      }
    }
    return [:]
  }

  /// Returns the variables of locale(7) in lines of NAME=VALUE, with or without quotes.
  static func settings(in text: String) -> [String: String] {
    var settings: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0].drop(while: \.isWhitespace))
      guard parts.count == 2, name == "LANG" || name == "LANGUAGE" || name.hasPrefix("LC_"),
        let value = value(parts[1])
      else { continue }
      settings[name] = value
    }
    return settings
  }

  /// Returns the text between quotes, or up to a space; nil if it cannot be the name of a locale.
  private static func value(_ text: Substring) -> String? {
    var value = text
    if let quote = value.first, quote == "\"" || quote == "'" {
      value = value.dropFirst()
      guard let end = value.firstIndex(of: quote) else { return nil }
      value = value[..<end]
    } else {
      value = value.prefix { !$0.isWhitespace }
    }
    return SettingText.isName(value, marks: "_.@-:+") ? String(value) : nil
  }
}
