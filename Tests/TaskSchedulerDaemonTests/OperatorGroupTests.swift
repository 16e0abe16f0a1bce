import Glibc
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§16 The daemon notices changes of the operators' group")
struct OperatorGroupTests {
  private let folder = TemporaryDirectory()
  /// A group name that no machine has.
  private let name = "taskschedd-test-group"

  private func write(_ lines: String...) {
    // Replaces the file, as groupadd does.
    folder.write("new", lines.joined(separator: "\n") + "\n")
    rename(folder.file("new"), folder.file("group"))
  }

  @Test("The creation, renumbering or removal of the group takes effect without a reload")
  func created() {
    write("root:x:0:")
    let group = OperatorGroup(named: name, path: folder.file("group"))
    #expect(group.current == nil)
    #expect(!group.refresh())
    write("root:x:0:", "\(name):x:4711:alice,bob")
    #expect(group.refresh(), "connections of the old group are checked again")
    #expect(group.current == 4711)
    write("root:x:0:", "\(name):x:4712:")
    #expect(group.current == 4712)
    write("root:x:0:", "\(name)s:x:4713:")
    #expect(group.current == nil)
  }

  @Test("Without a group file, or with malformed lines, there is no group")
  func damaged() {
    let group = OperatorGroup(named: name, path: folder.file("group"))
    #expect(group.current == nil)
    write(name, "\(name):x", "\(name):x:many:", ":::")
    #expect(group.current == nil)
  }

  @Test("With an empty setting, no group is read")
  func none() {
    write(":x:5:")
    #expect(OperatorGroup(named: "", path: folder.file("group")).current == nil)
  }

  @Test("A missing group causes a warning with file, line and key, and is not a mistake")
  func warning() {
    let fixture = ConfigurationFixture()
    let path = "/etc/taskschedd/taskschedd.toml"
    fixture.write(path, "\noperator-group = \"\(name)\"")
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    #expect(
      configuration.warnings(scope: .system).map(\.description) == [
        "\(fixture.root)\(path):2: operator-group: there is no group \"\(name)\" on this machine, "
          + "so only root may operate other users' applications; create it "
          + "(groupadd --system \(name)), or write \"\" for none"
      ])
    #expect(configuration.warnings(scope: .user) == [], "a user's daemon has no operators")
    var other = configuration
    other.options.operatorGroup = ""
    #expect(other.warnings(scope: .system) == [])
    other.options.operatorGroup = "root"
    #expect(other.warnings(scope: .system) == [])
  }
}
