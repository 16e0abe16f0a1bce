import FoundationEssentials
import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("The installed manual pages")
struct ManualPageTests {
  /// The commands without a manual page. `simulate` serves the development of the scheduler, and
  /// `help` shows the help of other commands.
  private static let withoutPage: Set<String> = ["simulate", "help"]

  private let documents: InstalledDocuments

  init() throws { documents = try InstalledDocuments.shared.get() }

  /// Returns the options that a page describes, each in a line `.It Fl`.
  private func described(in page: InstalledDocuments.Page) -> Set<String> {
    Set(
      page.arguments(of: ".It").filter { $0.first == "Fl" }.flatMap { words in
        words.indices.filter { $0 > 0 && words[$0 - 1] == "Fl" }.map { "-\(words[$0])" }
      })
  }

  @Test("Each command of users and operators has a page, and each page of taskctl has a command")
  func commands() throws {
    let commands = try #require(try CommandDescription.of("taskctl").subcommands)
      .filter { $0.shouldDisplay && !Self.withoutPage.contains($0.commandName) }
      .map { "taskctl-\($0.commandName)" }
    let pages = documents.pages.map(\.name).filter { $0.hasPrefix("taskctl") }
    #expect(Set(pages) == Set(commands + ["taskctl"]))
    let table = Set(try documents.page("taskctl").arguments(of: ".It").compactMap { words in
      words.count == 3 && words[0] == "Xr" ? String(words[1]) : nil
    })
    #expect(table == Set(commands), "the table of commands in taskctl(1)")
  }

  @Test("A command's page describes each option of the command, and no option that does not exist")
  func options() throws {
    let taskctl = try CommandDescription.of("taskctl")
    let common = CommandDescription(
      commandName: "", shouldDisplay: true, arguments: taskctl.arguments
    ).options
    #expect(described(in: try documents.page("taskctl")) == common)
    for command in taskctl.subcommands ?? [] where !Self.withoutPage.contains(command.commandName) {
      let page = try documents.page("taskctl-\(command.commandName)")
      let found = described(in: page)
      let missing = command.options.subtracting(found).subtracting(common)
      let invented = found.subtracting(command.options)
      #expect(missing.isEmpty && invented.isEmpty, "\(page.name): \(missing) \(invented)")
      for alias in command.aliases ?? [] {
        #expect(page.text.contains(".Nm taskctl \(alias)\n"), "\(page.name) and its alias \(alias)")
      }
    }
    for program in ["taskschedd", "taskschedd-session"] {
      let options = try CommandDescription.of(program).options
      #expect(described(in: try documents.page(program)) == options)
    }
  }

  @Test("taskschedd.toml(5) describes each setting, with its default and its bounds")
  func settings() throws {
    let page = try documents.page("taskschedd.toml")
    let items = page.text.split(separator: ".It Va ").dropFirst().map(String.init)
    var names: Set<String> = []
    for line in try Programs.text(of: "systemd/taskschedd.toml").split(separator: "\n") {
      guard line.hasPrefix("#"), !line.hasPrefix("# "), line.contains(" = ") else { continue }
      let parts = line.dropFirst().split(separator: "=", maxSplits: 1)
      let name = parts[0].dropLast()
      names.insert(String(name))
      let value = parts[1].dropFirst().filter { $0 != "\"" }
      let item = items.first { $0.hasPrefix(name + "\n") }
      #expect(item?.contains("\nDefault: \(value)") == true, "\(name)")
    }
    #expect(Set(items.map { String($0.prefix { $0 != "\n" }) }) == names)
    // The bounds in the shipped file are correct: another test compares them with the program.
    let shipped = try Programs.text(of: "systemd/taskschedd.toml").split { " \n#".contains($0) }
      .joined(separator: " ")
    for item in items {
      let name = String(item.prefix { $0 != "\n" })
      guard let bounds = item.split(separator: "Default: ").last?.split(separator: "; ").dropFirst()
        .first?.split(separator: "\n").first
      else { continue }
      #expect(shipped.contains("\(bounds) \(name) = "), "\(name): \(bounds)")
    }
  }

  @Test("taskschedd.manifest(5) describes each key that a manifest may have")
  func manifest() throws {
    let example = try Programs.text(of: "systemd/examples/org.example.mail.toml")
    let keys = example.split(separator: "\n").prefix { $0 != "[environment]" }
      .filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: " = ").first.map(String.init) }
    let page = try documents.page("taskschedd.manifest")
    let items = page.arguments(of: ".It").filter { $0.first == "Va" }.map { String($0[1]) }
    #expect(Set(items) == Set(keys + ["environment"]))
  }

  @Test(
    "The page of an interface holds each of its methods, types and errors",
    arguments: ["Application", "Control", "Session"])
  func interface(_ name: String) throws {
    let page = try documents.page("org.taskschedd.\(name)")
    let declared = try Programs.text(
      of: "Sources/TaskSchedulerWire/Interfaces/org.taskschedd.\(name).varlink"
    ).split(separator: "\n").filter { line in
      ["method ", "type ", "error "].contains { line.hasPrefix($0) }
    }
    #expect(declared.count > 15)
    for line in declared {
      let name = line.split { " (".contains($0) }[1]
      #expect(page.lines.contains(".Ss \(name)"), "\(name)")
      let code = line.replacing("-", with: "\\-")
      #expect(page.lines.contains { $0 == code }, "\(line)")
    }
    #expect(page.arguments(of: ".Ss").count == declared.count)
  }

  @Test("A reference to a page of taskschedd leads to a page")
  func references() throws {
    let names = Set(documents.pages.map { "\($0.name) \($0.section)" })
    for page in documents.pages {
      let references = (page.arguments(of: ".Xr") + page.arguments(of: ".It").map {
        Array($0.dropFirst())
      }).filter { $0.count > 1 && $0[0].contains("task") && !$0[0].hasPrefix("/") }
      for reference in references where Int(reference[1]) != nil {
        #expect(names.contains("\(reference[0]) \(reference[1])"), "\(page.name): \(reference)")
      }
    }
  }

  @Test("A manual page is well-formed mdoc", .enabled(if: has("mandoc"), "mandoc is not installed"))
  func form() throws {
    for page in documents.pages {
      let found = try InstalledDocuments.run(
        "/usr/bin/mandoc", ["-T", "lint", "-W", "warning", page.path])
      #expect(found == "", "\(found)")
    }
  }

  @Test("man finds nothing wrong in a page", .enabled(if: has("man"), "man is not installed"))
  func warnings() throws {
    for page in documents.pages {
      let found = try InstalledDocuments.run(
        "/usr/bin/env", [
          "LC_ALL=C.UTF-8", "MANWIDTH=80", "sh", "-c", "man --warnings -l \"$1\" >/dev/null", "sh",
          page.path,
        ])
      #expect(found == "", "\(found)")
    }
  }

  @Test(
    "apropos taskschedd lists every page",
    .enabled(if: has("mapropos") && access("/usr/sbin/makewhatis", X_OK) == 0,
      "mandoc is not installed"))
  func apropos() throws {
    #expect(try InstalledDocuments.run("/usr/sbin/makewhatis", [documents.manuals]) == "")
    let found = try InstalledDocuments.run(
      "/usr/bin/mapropos", ["-M", documents.manuals, "taskschedd"])
    for page in documents.pages {
      #expect(found.contains("\(page.name)(\(page.section))"), "\(page.name)")
    }
  }
}

private func has(_ program: String) -> Bool { access("/usr/bin/\(program)", X_OK) == 0 }
