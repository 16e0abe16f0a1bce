import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §16: each quota, with one user who reaches it and another who does not.
@Suite(
  "§16: Quotas per user on connections, applications, tasks, bytes queued",
  .enabled(if: geteuid() == 0, "only root can run other users' programs"))
struct QuotaTests {
  private let nobody: UInt32 = 65534
  private static let list = "org.taskschedd.Control.ListApplications"

  private func isServed(_ user: OtherUser, _ connection: Int) throws -> Bool {
    try user.call(connection, Self.list)["parameters"]?["applications"] != nil
  }

  @Test("A connection beyond the quota gets an error and is closed, until another one is closed")
  func connections() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxConnectionsPerUser", "3")]))
    let user = try OtherUser(daemon, uid: nobody)
    for number in 0..<3 { #expect(try isServed(user, user.open()), "\(number)") }
    let refused = try user.open()
    #expect(try user.call(refused, Self.list).quotaExceeded == "MaxConnectionsPerUser = 3")
    #expect(try user.next(refused)["closed"] == true)
    let others = try (0..<3).map { _ in try RawClient(daemon) }
    for other in others {
      #expect(try other.call(#"{"method":"\#(Self.list)"}"#)?["parameters"] != nil)
    }
    #expect(try isServed(user, 0), "existing connections continue to work")
    try user.close(1)
    try waitUntil("a closed connection frees its place") { try isServed(user, user.open()) }
  }

  @Test("Only the client that sends too many bytes of unfinished messages is disconnected")
  func unfinished() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxUnfinishedBytesPerUser", "64K")]))
    let part = [UInt8](repeating: UInt8(ascii: " "), count: 30_000)
    let list = #"{"method":"\#(Self.list)"}"#
    let within = try (0..<2).map { _ in try RawClient(daemon) }
    for client in within {
      try client.setSendBuffer(40_000)
      #expect(try client.send(part))
      // `part` fills more than a quarter of the send buffer, so there is no room until the daemon
      // has read `part`.
      try client.waitForRoom()
    }
    let beyond = try RawClient(daemon)
    _ = try beyond.send(part)
    #expect(try beyond.receive() == nil)
    #expect(daemon.logged.contains("MaxUnfinishedBytesPerUser (65536 bytes"))
    for client in within { #expect(try client.call(list)?["parameters"] != nil) }
    let next = try RawClient(daemon)
    try next.send(part)
    #expect(try next.call(list)?["parameters"] != nil, "the quota is free again")
  }

  @Test("Only the connection with too many descriptors in unfinished messages is closed")
  func unfinishedDescriptors() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxUnfinishedDescriptorsPerUser", "16")]))
    let brought = try FileDescriptor.open(reading: "/dev/null")
    let list = #"{"method":"\#(Self.list)"}"#
    let eight = [Int32](repeating: brought.rawValue, count: 8)
    let part = [UInt8](repeating: UInt8(ascii: " "), count: 30_000)
    let within = try (0..<2).map { _ in try RawClient(daemon) }
    for client in within {
      try client.setSendBuffer(40_000)
      #expect(try client.send(part, descriptors: eight))
      // `part` fills more than a quarter of the send buffer, so there is no room until the daemon
      // has read `part`.
      try client.waitForRoom()
    }
    let beyond = try RawClient(daemon)
    _ = try beyond.send(part, descriptors: [brought.rawValue])
    #expect(try beyond.receive() == nil)
    #expect(daemon.logged.contains("MaxUnfinishedDescriptorsPerUser (16 descriptors"))
    #expect(
      try RawClient(daemon).call(list)?["parameters"] != nil, "the daemon serves another connection"
    )
    let answer = try within[0].call(list)
    #expect(answer?.errorName == "InvalidParameter", "no field claims the descriptors")
    let next = try RawClient(daemon)
    try next.send(part, descriptors: eight)
    #expect(try next.call(list)?.errorName == "InvalidParameter", "the quota is free again")
  }

  @Test("The daemon refuses a monitor beyond the quota by name, until another one is closed")
  func monitors() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxMonitorsPerUser", "2")]))
    let user = try OtherUser(daemon, uid: nobody)
    let monitor = "org.taskschedd.Control.Monitor"
    for _ in 0..<2 {
      let answer = try user.call(user.open(), monitor, more: true)
      #expect(answer["parameters"]?["ready"] == true)
    }
    let refused = try user.open()
    #expect(try user.call(refused, monitor, more: true).quotaExceeded == "MaxMonitorsPerUser = 2")
    #expect(try isServed(user, refused), "the connection of the refused monitor stays open")
    let one: JSONValue = ["application": "org.test.one"]
    for _ in 0..<2 {
      #expect(try user.call(user.open(), monitor, one, more: true)["parameters"]?["ready"] == true)
    }
    let more = try user.call(user.open(), monitor, one, more: true)
    #expect(
      more.quotaExceeded == "MaxMonitorsPerUser = 2", "monitors of one application count, too")
    _ = try Monitor(daemon)
    try user.close(0)
    try waitUntil("a closed monitor frees its place") {
      try user.call(user.open(), monitor, more: true)["parameters"]?["ready"] == true
    }
  }

  @Test("The daemon refuses an application beyond the quota by name, until another one ends")
  func applications() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxApplicationsPerUser", "2")]))
    let first = try TestApplication(daemon, "org.test.first", uid: nobody)
    try first.registered()
    let program = try daemon.shell("read line", uid: nobody)
    try daemon.adopt("org.test.second", program)
    let third = try TestApplication(daemon, "org.test.third", uid: nobody)
    #expect(try third.nextEvent().quotaExceeded == "MaxApplicationsPerUser = 2")
    for id in ["org.test.roots1", "org.test.roots2"] {
      try daemon.adopt(id, try daemon.shell("read line"))
    }
    try program.writeLine("end")
    let monitor = try Monitor(daemon)
    if try daemon.application("org.test.second").state != .notRunning {
      try monitor.end("org.test.second")
    }
    try third.process.writeLine("stream org.test.third")
    try third.registered()
  }

  @Test("An adopted application counts for its owner, whichever user adopts it")
  func ownership() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxApplicationsPerUser", "1")]))
    let users = try daemon.shell("read line", uid: nobody)
    try daemon.adopt("org.test.users", users)
    let roots = try daemon.shell("read line")
    try daemon.adopt("org.test.roots", roots)
    let more = try daemon.shell("read line", uid: nobody)
    #expect {
      try daemon.adopt("org.test.more", more)
    } throws: {
      $0 as? ControlInterface.Failure
        == .quotaExceeded(quota: "MaxApplicationsPerUser", limit: 1)
    }
  }

  @Test("The daemon refuses a task beyond the quota by name, until a task or application ends")
  func tasks() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxTasksPerUser", "3")]))
    let first = try TestApplication(daemon, "org.test.first", uid: nobody)
    try first.registered()
    let task = try first.begin()
    try first.begin()
    // The registration of the second application sends the first one to the background. The tasks
    // of the first one keep it from being suspended.
    let second = try TestApplication(daemon, "org.test.second", uid: nobody)
    try second.registered()
    try second.begin()
    let refusal = "MaxTasksPerUser = 3"
    #expect(try second.call("BeginBackgroundTask").quotaExceeded == refusal)
    #expect(try first.call("BeginBackgroundTask").quotaExceeded == refusal)
    let other = try TestApplication(daemon, "org.test.other")
    try other.registered()
    for _ in 0..<3 { try other.begin() }
    #expect(try other.call("BeginBackgroundTask").quotaExceeded == refusal)
    #expect(try first.end(task).errorName == nil)
    try second.begin()
    #expect(try second.call("BeginBackgroundTask").quotaExceeded == refusal)
    let monitor = try Monitor(daemon)
    try second.process.writeLine("exit 0")
    try monitor.end("org.test.second")
    for _ in 0..<2 { try first.begin() }
    #expect(try first.call("BeginBackgroundTask").quotaExceeded == refusal)
  }

  @Test(
    "The connection that exceeds a user's quota of queued bytes is closed, which frees its bytes")
  func bytes() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxQueuedBytesPerUser", "65536")]))
    let user = try OtherUser(daemon, uid: nobody)
    for _ in 0..<3 { _ = try user.open() }
    try user.write(0, bytes: 40_000)
    try user.write(1, bytes: 40_000)
    #expect(try user.next(1)["closed"] == true)
    #expect(daemon.logged.contains("user 65534 exceeds MaxQueuedBytesPerUser (65536"))
    let others = try (0..<2).map { _ in try OtherUser(daemon, uid: 65533) }
    for other in others {
      _ = try other.open()
      try other.write(0, bytes: 30_000)
      #expect(try isServed(other, 0), "another user has a separate quota")
    }
    #expect(try isServed(user, 0), "the earlier connection is served, and its bytes are free again")
    try user.write(0, bytes: 40_000)
    try user.close(0)
    try waitUntil("the closed connection frees its bytes") {
      let connection = try user.open()
      try user.write(connection, bytes: 60_000)
      return try isServed(user, connection)
    }
    #expect(try isServed(user, 2), "the user's other connection is still open")
  }
}
