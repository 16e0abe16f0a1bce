import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// A reader of one manifest's document, which collects the problems of the document.
///
/// ``TOMLDocument`` reports malformed TOML. `ManifestLoader` reports a wrong name or owner of the
/// file.
package struct ManifestReader {
  private let document: TOMLDocument
  private let scope: ConfigurationPaths.Scope
  private var manifest: ApplicationManifest
  private var problems: ProblemList

  /// The keys of a manifest.
  enum Key: String, CaseIterable {
    case id, name, command, environment, multitasking, user, seat, location
    case workingDirectory = "working-directory"
    case backgroundModes = "background-modes"
    case locationPurpose = "location-purpose"
    case suspendMechanism = "suspend-mechanism"
    case stopSignal = "stop-signal"
  }

  /// The size limit of a display name in bytes, equal to the limit of a task's name in the
  /// interface.
  static let nameBytesMax = 256
  /// The maximum length of `location-purpose`, in Unicode scalars. Source: this project; desktops
  /// show about three lines of a notification.
  static let purposeMax = 200
  /// The prefix of the variables that only the daemon may set.
  static let reservedPrefix = "TASKSCHEDD_"

  /// Reads `document` as the manifest of `id`, which is the name of its file.
  package static func read(
    _ document: TOMLDocument, id: ApplicationID, scope: ConfigurationPaths.Scope
  ) -> (manifest: ApplicationManifest, problems: [ConfigurationProblem]) {
    var reader = ManifestReader(
      document: document, scope: scope,
      manifest: ApplicationManifest(id: id, file: document.file))
    for (name, node) in document.root { reader.read(name, node) }
    if document.root[Key.id.rawValue] == nil {
      reader.problems.add(line: nil, key: Key.id.rawValue) {
        "is missing; write id = \"\(id)\""
      }
    }
    return (reader.manifest, reader.problems.told)
  }

  private init(
    document: TOMLDocument, scope: ConfigurationPaths.Scope, manifest: ApplicationManifest
  ) {
    self.document = document
    self.scope = scope
    self.manifest = manifest
    problems = ProblemList(of: document.file)
  }

  private mutating func read(_ name: String, _ node: TOMLNode) {
    guard let key = Key(rawValue: name) else {
      let path: [TOMLPathComponent] = [.key(name)]
      return problems.add(line: document.line(of: path), key: path.keyText) {
        let nearest = nearestName(to: name, among: Key.allCases.map(\.rawValue))
        let all = Key.allCases.map(\.rawValue).joined(separator: ", ")
        return "unknown key; "
          + (nearest.map { "did you mean \($0)?" } ?? "a manifest may have \(all)")
      }
    }
    switch key {
    case .id: readID(node)
    case .name: readName(node)
    case .command: readCommand(node)
    case .environment: readEnvironment(node)
    case .workingDirectory: readWorkingDirectory(node)
    case .backgroundModes: readBackgroundModes(node)
    case .location: readLocation(node)
    case .locationPurpose: readLocationPurpose(node)
    case .multitasking: readMultitasking(node)
    case .user: readUser(node)
    case .seat: readSeat(node)
    case .suspendMechanism: readSuspendMechanism(node)
    case .stopSignal: readStopSignal(node)
    }
  }

  private mutating func refuse(_ path: [TOMLPathComponent], _ message: String) {
    problems.add(line: document.line(of: path), key: path.keyText) { message }
  }

  private mutating func string(
    _ key: Key, _ node: TOMLNode, example: String
  ) -> String? {
    if case .string(let text) = node { return text }
    refuse([.key(key.rawValue)], "is \(node.kindName), not a string; write it as \(example)")
    return nil
  }

  private mutating func readID(_ node: TOMLNode) {
    let expected = manifest.id.name
    guard let id = string(.id, node, example: "\"\(expected)\""), id != expected else { return }
    refuse(
      [.key(Key.id.rawValue)],
      "\(quoted(id)) differs from the name of the file; write \"\(expected)\" or rename the file")
  }

  private mutating func readName(_ node: TOMLNode) {
    guard let name = string(.name, node, example: "\"Mail\"") else { return }
    let hasControls = name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    guard !name.isEmpty, name.utf8.count <= Self.nameBytesMax, !hasControls else {
      refuse(
        [.key(Key.name.rawValue)],
        "\(quoted(name)) is not a valid name; write 1 to \(Self.nameBytesMax) bytes "
          + "without newlines or other control characters")
      return
    }
    manifest.displayName = name
  }

  private mutating func readCommand(_ node: TOMLNode) {
    let path: [TOMLPathComponent] = [.key(Key.command.rawValue)]
    let example = "[\"/usr/bin/program\", \"argument\"]"
    guard case .array(let elements) = node else {
      refuse(
        path, "is \(node.kindName), not an array; write the program and each argument as separate "
          + "strings: \(example)")
      return
    }
    var words: [String] = []
    for (index, element) in elements.enumerated() {
      if case .string(let word) = element {
        words.append(word)
      } else {
        refuse(path + [.index(index)], "is \(element.kindName), not a string; put it in quotes")
      }
    }
    guard words.count == elements.count else { return }
    guard let program = words.first else {
      refuse(
        path,
        "is empty; write \(example), or omit the key if the daemon need not launch the application")
      return
    }
    let hasSlash = program.utf8.contains(UInt8(ascii: "/"))
    guard program.hasPrefix("/") || (!program.isEmpty && !hasSlash) else {
      refuse(
        path + [.index(0)],
        "\(quoted(program)) is not a program; write an absolute path, or a name to find in PATH")
      return
    }
    manifest.command = words
  }

  private mutating func readEnvironment(_ node: TOMLNode) {
    let path: [TOMLPathComponent] = [.key(Key.environment.rawValue)]
    guard case .table(let members) = node else {
      refuse(
        path, "is \(node.kindName), not a table; write { NAME = \"value\" }, or [environment] "
          + "followed by one line for each variable")
      return
    }
    for (name, value) in members {
      let memberPath = path + [.key(name)]
      guard Self.isVariableName(name) else {
        refuse(
          memberPath,
          "is not the name of a variable; use letters, digits and _, not starting with a digit")
        continue
      }
      guard !name.hasPrefix(Self.reservedPrefix) else {
        refuse(memberPath, "the prefix \(Self.reservedPrefix) is reserved for the daemon")
        continue
      }
      guard case .string(let text) = value else {
        refuse(memberPath, "is \(value.kindName), not a string; put it in quotes")
        continue
      }
      manifest.environment[name] = text
    }
  }

  private static func isVariableName(_ name: String) -> Bool {
    !name.isEmpty
      && name.unicodeScalars.enumerated().allSatisfy { index, scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        case "0"..."9": index > 0
        default: false
        }
      }
  }

  private mutating func readWorkingDirectory(_ node: TOMLNode) {
    guard let folder = string(.workingDirectory, node, example: "\"/var/lib/mail\"") else { return }
    guard folder.hasPrefix("/") else {
      refuse(
        [.key(Key.workingDirectory.rawValue)],
        "\(quoted(folder)) is not an absolute path; write one, such as \"/var/lib/mail\"")
      return
    }
    manifest.workingDirectory = folder
  }

  private mutating func readBackgroundModes(_ node: TOMLNode) {
    let names = BackgroundMode.allCases.map(\.rawValue)
    let chosen = choices(.backgroundModes, node, names, example: "audio")
    manifest.backgroundModes = BackgroundMode.allCases.filter { chosen.contains($0.rawValue) }
  }

  private mutating func readLocation(_ node: TOMLNode) {
    let names = LocationService.allCases.map(\.manifestName)
    let chosen = choices(.location, node, names, example: "updates")
    manifest.locationServices =
      LocationService.allCases.filter { chosen.contains($0.manifestName) }
  }

  /// Returns the values of an array. Each value must be one of `names`.
  private mutating func choices(
    _ key: Key, _ node: TOMLNode, _ names: [String], example: String
  ) -> Set<String> {
    let path: [TOMLPathComponent] = [.key(key.rawValue)]
    guard case .array(let elements) = node else {
      refuse(
        path, "is \(node.kindName), not an array; write some of \(names.joined(separator: ", ")), "
          + "such as [\"\(example)\"]")
      return []
    }
    var chosen: Set<String> = []
    for (index, element) in elements.enumerated() {
      let elementPath = path + [.index(index)]
      do {
        let name = try SettingKind.choice(element, names)
        if !chosen.insert(name).inserted {
          refuse(elementPath, "\"\(name)\" is listed twice; remove one")
        }
      } catch {
        refuse(elementPath, error.message)
      }
    }
    return chosen
  }

  private mutating func readLocationPurpose(_ node: TOMLNode) {
    let example = "\"Finds the way to your destination.\""
    guard let purpose = string(.locationPurpose, node, example: example) else { return }
    let scalars = purpose.unicodeScalars
    guard (1...Self.purposeMax).contains(scalars.count), scalars.allSatisfy(\.isOfLine) else {
      refuse(
        [.key(Key.locationPurpose.rawValue)],
        "\(quoted(purpose)) is not a valid purpose; write one line of 1 to \(Self.purposeMax) "
          + "characters")
      return
    }
    manifest.locationPurpose = purpose
  }

  private mutating func readMultitasking(_ node: TOMLNode) {
    guard case .boolean(let flag) = node else {
      refuse(
        [.key(Key.multitasking.rawValue)],
        "is \(node.kindName); write true, or false to opt out, without quotes")
      return
    }
    manifest.multitasking = flag
  }

  private mutating func readUser(_ node: TOMLNode) {
    let path: [TOMLPathComponent] = [.key(Key.user.rawValue)]
    guard scope == .system else {
      refuse(
        path, "only the system's daemon runs applications as other users; remove the key, or "
          + "move the manifest to /etc/taskschedd/applications")
      return
    }
    guard let name = string(.user, node, example: "\"mail\"") else { return }
    do {
      manifest.account = try Users.user(named: name)
      if manifest.account == nil {
        refuse(
          path,
          "there is no user \(quoted(name)) on this machine; create this user or name another")
      }
    } catch {
      refuse(path, "could not look up user \(quoted(name)): \(error)")
    }
  }

  private mutating func readSeat(_ node: TOMLNode) {
    guard let name = string(.seat, node, example: "\"seat0\"") else { return }
    // The rule is logind's (systemd, src/login/logind-seat.c, seat_name_is_valid).
    let isName =
      name.hasPrefix("seat") && name.utf8.count > 4 && name.utf8.count <= 255
      && name.utf8.allSatisfy(TOMLKeyLocator.isBareKeyByte)
    guard isName else {
      refuse(
        [.key(Key.seat.rawValue)],
        "\(quoted(name)) is not a seat; write \"seat\" followed by letters, digits, - or _, "
          + "such as \"seat0\" (loginctl list-seats)")
      return
    }
    manifest.seat = SeatID(name)
  }

  private mutating func readStopSignal(_ node: TOMLNode) {
    guard let name = string(.stopSignal, node, example: "\"SIGINT\"") else { return }
    let names = Signal.stopSignals.map(\.name)
    guard let signal = Signal(name: name), Signal.stopSignals.contains(signal) else {
      let nearest = nearestName(to: name, among: names)
      refuse(
        [.key(Key.stopSignal.rawValue)],
        "\(quoted(name)) is not a signal that asks a program to exit; "
          + (nearest.map { "did you mean \($0)?" }
            ?? "write one of \(names.joined(separator: ", "))"))
      return
    }
    manifest.stopSignal = signal
  }

  private mutating func readSuspendMechanism(_ node: TOMLNode) {
    do {
      let name = try SettingKind.choice(node, SuspendMechanism.allCases.map(\.rawValue))
      manifest.suspendMechanism = SuspendMechanism(rawValue: name)
    } catch {
      refuse([.key(Key.suspendMechanism.rawValue)], error.message)
    }
  }
}

extension Unicode.Scalar {
  /// Whether a text of one line may contain this scalar. Control characters and separators of lines
  /// and paragraphs are not allowed.
  fileprivate var isOfLine: Bool {
    ![.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
  }
}
