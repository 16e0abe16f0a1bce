import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §19, with real memory files (memfd_create(2)).
@Suite("§19: The snapshot of an application")
struct SnapshotTests {
  private let id = "org.test.shown"
  private let getSnapshot = #"{"method":"org.taskschedd.Control.GetSnapshot","#
    + #""parameters":{"application":"org.test.shown"}}"#

  private struct Picture {
    var bytes: [UInt8]
    var width: JSONValue?
    var height: JSONValue?
  }

  /// Returns the picture of the application; nil if the daemon returns none.
  private func picture(_ daemon: DaemonFixture) throws -> Picture? {
    let client = try RawClient(daemon)
    try client.send(getSnapshot)
    let (message, descriptors) = try client.receiveDescriptors()
    #expect(message.errorName == nil, "\(message)")
    guard let number = descriptors.first else {
      #expect(message["parameters"]?.withoutNulls == [:])
      return nil
    }
    defer { close(number) }
    #expect(descriptors.count == 1)
    #expect(message["parameters"]?["snapshotFileDescriptor"] == 0)
    var bytes = [UInt8](repeating: 0, count: 2 << 20)
    let count = read(number, &bytes, bytes.count)
    #expect(message["parameters"]?["size"] == .integer(Int64(count)))
    #expect(pwrite(number, "x", 1, 0) == -1, "it is open for reading only")
    #expect(ftruncate(number, 0) == -1)
    let again = open("/proc/self/fd/\(number)", O_RDWR)
    #expect(again == -1 || pwrite(again, "x", 1, 0) == -1, "it is sealed")
    if again >= 0 { close(again) }
    return Picture(
      bytes: Array(bytes[..<count]), width: message["parameters"]?["width"],
      height: message["parameters"]?["height"])
  }

  private func set(_ what: String, _ application: TestApplication) throws -> JSONValue {
    try application.process.writeLine("snapshot \(what)")
    return try application.nextAnswer()
  }

  @Test("A shell reads the picture that the application has set, until the application replaces it")
  func picture() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, id)
    #expect(try picture(daemon) == nil)
    #expect(try daemon.application(id).snapshot == .none)
    let before = try daemon.descriptorCount()
    for size in [200, 1 << 20, 300] {
      #expect(try set("\(size)", application).errorName == nil)
      // Each answer has a descriptor with its own offset, so the second reader also reads from the
      // start.
      for _ in 0..<2 {
        let picture = try #require(try picture(daemon))
        #expect(picture.bytes.count == size)
        #expect(picture.bytes.starts(with: TestImage.signature))
        #expect(picture.width == 3)
        #expect(picture.height == 2)
      }
      #expect(try daemon.application(id).snapshot == .picture)
    }
    #expect(try set("remove", application).errorName == nil)
    #expect(try picture(daemon) == nil)
    #expect(try daemon.application(id).snapshot == .none)
    try waitUntil("the daemon holds no more") { try daemon.descriptorCount() <= before }
  }

  @Test(
    "The daemon returns no picture for a sensitive snapshot", arguments: ["", " image"])
  func sensitive(_ image: String) throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, id)
    let before = try daemon.descriptorCount()
    #expect(try set("200", application).errorName == nil)
    #expect(try set("sensitive\(image)", application).errorName == nil)
    #expect(try picture(daemon) == nil)
    #expect(try daemon.application(id).snapshot == .sensitive)
    try waitUntil("the daemon holds no picture") { try daemon.descriptorCount() <= before }
  }

  @Test("A change of the file after the call does not change the picture")
  func changed() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, id)
    #expect(try set("changed", application).errorName == nil)
    // The application changes the file before it makes this call.
    #expect(try application.call("GetStatus").errorName == nil)
    let picture = try #require(try picture(daemon))
    #expect(picture.bytes.count == 200)
    #expect(picture.bytes.starts(with: TestImage.signature))
  }

  // MARK: Bad input

  @Test(
    "A descriptor without a usable image is refused with the field and the reason",
    arguments: [
      ("1048577", "the maximum is 1048576"), ("sparse", "a file of 1099511627776 bytes"),
      ("empty", "an empty file"), ("text", "not a PNG image"), ("truncated", "truncated"),
      ("longer", "with 1 bytes after its end"), ("writing", "open for writing only"),
      ("pipe", "a pipe; a memfd"), ("/", "a file; a memfd"), ("/dev/zero", "a file; a memfd"),
      ("/etc/passwd", "a file; a memfd"), ("path", "O_PATH"),
    ])
  func refused(_ what: String, _ reason: String) throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, id)
    #expect(try set("200", application).errorName == nil)
    let before = try daemon.descriptorCount()
    let answer = try set(what, application)
    #expect(answer.errorName == "InvalidSnapshot", "\(answer)")
    #expect(answer["parameters"]?["parameter"] == "snapshotFileDescriptor")
    guard case .string(let said)? = answer["parameters"]?["reason"] else {
      throw TestApplication.Unexpected(line: "\(answer)")
    }
    #expect(said.contains(reason), "\(said)")
    #expect(try picture(daemon)?.bytes.count == 200, "the earlier snapshot stays")
    try waitUntil("the daemon holds no more") { try daemon.descriptorCount() <= before }
  }

  @Test(
    "A call without the descriptor that it names, or with another one, is an InvalidParameter",
    arguments: [("none", "snapshotFileDescriptor"), ("two", "fileDescriptors[1]")])
  func wrongDescriptors(_ what: String, _ field: String) throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, id)
    let answer = try set(what, application)
    #expect(answer.errorName == "InvalidParameter", "\(answer)")
    #expect(answer["parameters"]?["parameter"] == .string(field))
  }

  @Test("A process that belongs to no application cannot set a snapshot")
  func stranger() throws {
    let daemon = try DaemonFixture()
    let stranger = try TestApplication(daemon, id, "silent")
    #expect(try set("200", stranger).errorName == "NotRegistered")
  }

  @Test("10000 snapshots leave one picture, and no additional descriptor")
  func flood() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, id)
    let before = try daemon.descriptorCount()
    try application.process.writeLine("flood 10000")
    #expect(try application.nextAnswer().errorName == nil)
    #expect(try picture(daemon)?.bytes.count == 1003)
    try waitUntil("the daemon holds one more") { try daemon.descriptorCount() <= before + 1 }
  }

  @Test("A client that does not read its pictures loses them with its connection")
  func unread() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, id)
    #expect(try set("200", application).errorName == nil)
    let before = try daemon.descriptorCount()
    do {
      let client = try RawClient(daemon)
      for _ in 0..<100 { try client.send(getSnapshot) }
      #expect(try client.receiveDescriptors().message.errorName == nil)
    }
    try waitUntil("the daemon holds no more") { try daemon.descriptorCount() <= before }
    #expect(try picture(daemon)?.bytes.count == 200)
  }

  @Test("Beyond MaxSnapshotsPerUser, the least recently active application loses its picture")
  func quota() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxSnapshotsPerUser", "1")]))
    let first = try TestApplication.active(daemon, id)
    #expect(try set("200", first).errorName == nil)
    let second = try TestApplication.active(daemon, "org.test.second")
    #expect(try set("200", second).errorName == nil)
    #expect(try daemon.application(id).snapshot == .none)
    #expect(try daemon.application("org.test.second").snapshot == .picture)
  }

  // MARK: The daemon's death

  @Test("After kill -9 of a daemon without a descriptor store, the switcher shows the icon")
  func killed() throws {
    let first = try DaemonFixture()
    let application = try TestApplication.active(first, id)
    #expect(try set("200", application).errorName == nil)
    let second = try first.killed()
    #expect(try second.application(id).snapshot == .none)
    #expect(try picture(second) == nil)
    try application.process.writeLine("reconnect")
    #expect(try set("300", application).errorName == nil)
    #expect(try picture(second)?.bytes.count == 300)
  }
}
