import LinuxSystem
import Testing

@Suite("The systemd unit of a process, by its control group")
struct SystemdUnitTests {
  @Test(
    """
    A path names the unit of the system's manager, and the unit of the user's manager if there \
    is one
    """,
    arguments: [
      ("/system.slice/cron.service", "cron.service", nil),
      ("/init.scope", "init.scope", nil),
      ("/taskschedd.slice/app-x-a.b@1-2.service/sub", "app-x-a.b@1-2.service", nil),
      ("/user.slice/user-1000.slice/session-2.scope", "session-2.scope", nil),
      (
        "/user.slice/user-1000.slice/user@1000.service/init.scope", "user@1000.service",
        "init.scope"
      ),
      (
        "/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.slice/app-x@1.service",
        "user@1000.service", "app-x@1.service"
      ),
      ("/user.slice/user-1000.slice/user@1000.service", "user@1000.service", nil),
      ("/system.slice/_cpu.service", "cpu.service", nil),
    ] as [(String, String, String?)])
  func found(_ path: String, _ name: String, _ userName: String?) {
    let unit = SystemdUnit(cgroup: path)
    #expect(unit?.name == name)
    #expect(unit?.userName == userName)
    #expect(unit?.ownName == userName ?? name)
  }

  @Test(
    "A path outside of any unit names no unit",
    arguments: ["", "/", "/user.slice", "/lxc/container/x.service"])
  func none(_ path: String) {
    #expect(SystemdUnit(cgroup: path) == nil)
  }
}
