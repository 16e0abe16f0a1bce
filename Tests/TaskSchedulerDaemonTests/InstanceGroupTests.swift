import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The names of instances' cgroups")
struct InstanceGroupTests {
  @Test(
    "The name of an instance's cgroup is distinguished from the names of other cgroups",
    arguments: [
      ("org.example.mail.812-3", true), ("org.example.mail.812-3-2", true),
      ("a.b.1-1", true), ("org.example.mail", false), ("org.example.mail.812", false),
      ("org.example.mail.812-", false), ("org.example.mail.812-x", false),
      ("org.example.mail.1-2-3-4", false), ("mail.812-3", false), ("init.scope", false),
      ("user.slice", false), (".812-3", false), ("", false),
    ])
  func names(name: String, isInstance: Bool) {
    #expect(InstanceGroups.isInstance(name) == isInstance)
  }
}
