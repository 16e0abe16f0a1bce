import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The names of instances' units")
struct InstanceUnitTests {
  @Test(
    "The name of an instance's unit is distinguished from the names of other units",
    arguments: [
      ("app-org.example.mail@7-0123456789abcdef.service", true),
      ("app-taskschedd-org.example.mail@7-0123456789abcdef.service", true),
      ("app-org.example.my\\x2dmail@7-0123456789abcdef.service", true),
      ("app-org.example.mail@7-1.service", false),
      ("app-org.example.mail@0123456789abcdef.service", false),
      ("app-org.example.mail.service", false),
      ("org.example.mail@7-0123456789abcdef.service", false),
      ("app-@7-0123456789abcdef.service", false),
      ("app-org.example.mail@7-0123456789abcdeg.service", false),
      ("app-org.example.mail@7-0123456789abcdef.scope", false), ("", false),
    ])
  func names(name: String, isInstance: Bool) {
    #expect(InstanceUnits.isInstance(name) == isInstance)
  }

  @Test(
    "A unit's name contains the application, is unique, and is never longer than systemd allows")
  func fresh() throws {
    let dashed = try #require(ApplicationID("org.example.my-mail"))
    let name = InstanceUnits.newName(for: dashed, InstanceID(7))
    #expect(name.hasPrefix("app-taskschedd-org.example.my\\x2dmail@"))
    #expect(InstanceUnits.instance(of: name) == InstanceID(7))
    #expect(name != InstanceUnits.newName(for: dashed, InstanceID(7)))
    for filling in ["a", "-"] {
      let text = "org." + String(repeating: filling, count: ApplicationID.bytesMax - 4)
      let long = InstanceUnits.newName(
        for: try #require(ApplicationID(text)), InstanceID(.max))
      #expect(long.utf8.count <= 255)
      #expect(InstanceUnits.isInstance(long))
    }
  }

  @Test(
    """
    The slice of units is directly below the service manager's group, wherever the daemon's unit \
    is
    """,
    arguments: [
      ("/g/system.slice/taskschedd.service", "/g/taskschedd.slice"),
      ("/g/a.slice/a-b.slice/taskschedd.service", "/g/taskschedd.slice"),
      ("/g/payload/system.slice/taskschedd.service", "/g/payload/taskschedd.slice"),
    ])
  func slice(unit: String, slice: String) {
    #expect(
      InstanceUnits.slice(of: .system, besideUnit: ControlGroup(path: unit))
        == ControlGroup(path: slice))
  }

  @Test("The slice of a user's daemon is in app.slice, with the user's other applications")
  func usersSlice() {
    let manager = "/g/user.slice/user-7.slice/user@7.service/app.slice"
    #expect(
      InstanceUnits.slice(
        of: .user, besideUnit: ControlGroup(path: "\(manager)/taskschedd.service")).path
        == "\(manager)/app-taskschedd.slice")
  }
}
