import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerDaemon
import Testing

/// Tests that compare the installed files below `systemd/` with the daemon.
@Suite("Configuration files that are installed")
struct ShippedConfigurationTests {
  /// The package's directory, from the path of this file.
  private static let package = #filePath.split(separator: "/").dropLast(3)
    .reduce("") { $0 + "/" + $1 }

  private static func text(_ path: String) throws -> String {
    let file = try BoundedFile(path: "\(package)/systemd/\(path)", bytesMax: 1 << 20)
    return try #require(String(validating: file.bytes, as: UTF8.self))
  }

  @Test("The installed taskschedd.toml sets nothing")
  func commented() throws {
    let bytes = Array(try Self.text("taskschedd.toml").utf8)
    let (configuration, problems) = Configuration.parse(bytes, file: "f")
    #expect(problems == [])
    #expect(configuration == Configuration())
  }

  @Test(
    "Without its comment marks, the installed taskschedd.toml sets every setting to its default")
  func uncommented() throws {
    let lines = try Self.text("taskschedd.toml").split(separator: "\n").map { line in
      line.hasPrefix("#") && !line.hasPrefix("# ") ? String(line.dropFirst()) : String(line)
    }
    let text = lines.joined(separator: "\n")
    let (configuration, problems) = Configuration.parse(Array(text.utf8), file: "f")
    #expect(problems == [])
    #expect(Set(configuration.sources.keys) == Set(SettingDescription.all.map(\.fullName)))
    let defaults = Configuration()
    #expect(configuration.options == defaults.options)
    #expect(configuration.policy == defaults.policy)
    for setting in SettingDescription.all {
      let line = "#\(setting.name) = \(setting.tomlText(in: defaults))\n"
      #expect(try Self.text("taskschedd.toml").contains(line))
    }
  }

  @Test("The fuzzer's corpus contains the installed taskschedd.toml")
  func corpus() throws {
    let copy = try BoundedFile(
      path: "\(Self.package)/Fuzz/Corpus/settings/shipped.toml", bytesMax: 1 << 20)
    let isSame = try copy.bytes.elementsEqual(Self.text("taskschedd.toml").utf8)
    #expect(isSame, "cp systemd/taskschedd.toml Fuzz/Corpus/settings/shipped.toml")
  }

  @Test("Each setting's comment states its bounds")
  func statedBounds() throws {
    let words = try Self.text("taskschedd.toml").split { " \n#".contains($0) }
      .joined(separator: " ")
    for setting in SettingDescription.all {
      let bounds: String
      switch setting.kind {
      case .timeSpan(let range):
        bounds = TimeSpan.format(range.lowerBound) + " to " + TimeSpan.format(range.upperBound)
      case .count(let range): bounds = "\(range.lowerBound) to \(range.upperBound)"
      case .bytes(let range):
        bounds = ByteCount.format(range.lowerBound) + " to " + ByteCount.format(range.upperBound)
      case .choice, .flag, .groupName, .applicationID, .paths, .programs, .applications,
        .socketPath:
        continue
      }
      #expect(words.contains("\(bounds). \(setting.name) = "), "\(setting.name)")
    }
  }

  @Test("The example manifests have no mistake on a machine that has their users")
  func examples() throws {
    let fixture = ConfigurationFixture()
    let names = try Directory.names(path: "\(Self.package)/systemd/examples")
    for name in names {
      // `mail` is a user of Debian. On a machine without this user, the test uses root.
      let hasMail = try Users.user(named: "mail") != nil
      let text = try Self.text("examples/\(name)")
        .split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0 == "user = \"mail\"" && !hasMail ? "user = \"root\"" : $0 }
        .joined(separator: "\n")
      fixture.write("/etc/taskschedd/applications/\(name)", text)
    }
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    #expect(configuration.manifests.count == names.count)
    #expect(names.count >= 4)
  }

  private static let messageIDs =
    MessageID.allCases.map(\.rawValue) + Record.Kind.allCases.map(\.messageID)

  @Test("The message catalog has exactly one entry for each kind of record and message")
  func catalog() throws {
    let entries = try Self.text("catalog/taskschedd.catalog").split(separator: "\n")
      .filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
    #expect(entries.sorted() == Self.messageIDs.sorted())
  }

  @Test("A message id is 128 bits in lower-case hexadecimal digits")
  func messageIDs() {
    for id in Self.messageIDs {
      #expect(id.utf8.count == 32)
      #expect(id.allSatisfy { "0123456789abcdef".contains($0) })
    }
  }

  @Test("Each catalog entry has a subject, an author and a text, and names fields that exist")
  func catalogEntries() throws {
    let fields: Set<String> = [
      "MESSAGE", "TASKSCHEDD_APP", "TASKSCHEDD_PID", "TASKSCHEDD_FROM", "TASKSCHEDD_TO",
      "TASKSCHEDD_CAUSE", "TASKSCHEDD_REASON", "TASKSCHEDD_TASK", "TASKSCHEDD_SOCKET",
      "TASKSCHEDD_NOTIFICATION", "TASKSCHEDD_DIRTY_BYTES", "TASKSCHEDD_AVAILABLE_BYTES",
      "TASKSCHEDD_ADDRESS",
    ]
    let entries = try Self.text("catalog/taskschedd.catalog").split(separator: "-- ")
    #expect(entries.count == Self.messageIDs.count)
    for entry in entries {
      let lines = entry.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[1].hasPrefix("Subject: "))
      #expect(lines.contains("Defined-By: taskschedd"))
      let blank = try #require(lines.firstIndex(of: ""))
      #expect(lines[(blank + 1)...].contains { !$0.isEmpty })
      // The text contains a field as @NAME@, so every second part between at signs is a name.
      let pieces = entry.split(separator: "@", omittingEmptySubsequences: false)
      for index in stride(from: 1, to: pieces.count, by: 2) {
        #expect(fields.contains(String(pieces[index])))
      }
    }
  }
}
