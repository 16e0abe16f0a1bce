import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §6 to §9: the example phone, which uses the client library, with the real daemon.
@Suite("The example phone receives calls while it is suspended")
struct VoipExampleTests {
  private let id = "org.example.voip"

  /// A signalling server on a separate port.
  private struct Server {
    let process: TestProcess
    let port: String

    init() throws {
      let path = Programs.path(of: "voip-example")
      process = try TestProcess(path, ["voip-example", "server", "0"])
      port = String(try process.nextLine().split(separator: " ").last!)
    }

    /// Waits until the server has printed a line that ends with the words.
    func wait(for words: String) throws {
      while try !process.nextLine().hasSuffix(words) {}
    }

    /// Calls the phone, and waits until the server has reported the answer and the end of the call.
    func call(from caller: String) throws {
      let path = Programs.path(of: "voip-example")
      let call = try TestProcess(path, ["voip-example", "call", port, "ada", caller])
      #expect(try call.nextLine().contains("ada has answered"))
      #expect(try call.waitForExit() == .exited(code: 0))
      try wait(for: "\(caller)'s call is answered")
      try wait(for: "\(caller)'s call has ended")
    }
  }

  private func waitUntilSuspended(_ daemon: DaemonFixture) throws {
    try waitUntil("the phone is suspended") { try daemon.application(id).state == .suspended }
  }

  /// Returns the titles of the phone's notifications.
  private func notifications(_ daemon: DaemonFixture) throws -> [String] {
    try daemon.call(ControlInterface.ListNotifications.self, .init(application: id))
      .notifications.map(\.notification.content.title)
  }

  @Test(
      """
      The phone is suspended after its launch. A call resumes it; it answers, notifies the user \
      and is suspended again, even after kill -9 of the daemon
      """)
  func called() throws {
    let server = try Server()
    let settings = DaemonFixture.Settings(manifests: [
      (
        id,
        """
        background-modes = ["voip"]
        command = ["\(Programs.path(of: "voip-example"))", "phone", "\(server.port)", "ada"]
        """
      )
    ])
    let daemon = try DaemonFixture(settings)
    try server.wait(for: "ada can be called")
    try waitUntilSuspended(daemon)
    let instance = try #require(try daemon.application(id).instance)
    #expect(instance.launchReason == .boot)
    #expect(instance.managedSockets == 1)
    #expect(instance.keepAlive?.intervalUSec == 600_000_000)
    let pid = Int32(instance.pid)
    #expect(try daemon.state(of: pid) == .stopped)
    let monitor = try Monitor(daemon)
    try server.call(from: "bob")
    for change in ["began", "ended"] {
      #expect(
        try monitor.next(.callChanged, of: id).message == "\(id): its phone call \(change)")
    }
    try waitUntilSuspended(daemon)
    #expect(try notifications(daemon) == ["bob calls"])

    try daemon.die()
    let next = try DaemonFixture(settings, after: daemon)
    try waitUntil("the phone has passed its socket again") {
      let known = try next.application(id)
      return known.state == .suspended && known.instance?.managedSockets == 1
    }
    #expect(try next.application(id).instance?.pid == instance.pid)
    try server.call(from: "carol")
    try waitUntilSuspended(next)
    #expect(try next.state(of: pid) == .stopped)
    #expect(try notifications(next).sorted() == ["bob calls", "carol calls"])
    #expect(try next.application(id).badge == 2)
  }

  @Test(
      """
      A daemon that stops resumes the phone. A later daemon without the phone's state receives the \
      phone's keep-alive handler and socket again
      """)
  func forgotten() throws {
    let server = try Server()
    let settings = DaemonFixture.Settings(manifests: [(id, "background-modes = [\"voip\"]")])
    let daemon = try DaemonFixture(settings)
    let phone = try TestProcess(
      Programs.path(of: "voip-example"), ["voip-example", "phone", server.port, "ada"]
    ) { $0.environment = daemon.environment().map { SystemString($0) } }
    try server.wait(for: "ada can be called")
    try waitUntilSuspended(daemon)
    _ = try daemon.process.send(signal: SIGTERM)
    _ = try daemon.process.wait()
    #expect(try daemon.state(of: phone.pid) != .stopped)

    let next = try DaemonFixture(settings, after: daemon)
    try waitUntil("the daemon knows the phone, its handler and its socket") {
      let instance = try? next.application(id).instance
      return instance?.keepAlive != nil && instance?.managedSockets == 1
    }
    try waitUntilSuspended(next)
    #expect(try next.state(of: phone.pid) == .stopped)
    try server.call(from: "bob")
    try waitUntilSuspended(next)
  }
}
