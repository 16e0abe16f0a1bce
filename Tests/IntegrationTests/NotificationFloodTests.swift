import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15 and §16: how many notifications one user can store under unused application ids.
@Suite(
  "§15: A user who schedules notifications for many free ids slows and starves no other user",
  .enabled(if: geteuid() == 0, "only root can run other users' programs"))
struct NotificationFloodTests {
  private let nobody: UInt32 = 65534

  /// Registers 200 ids, and schedules notifications with the longest texts for each id. Schedules
  /// 128 for each id until the user's quota is used up, and 8 for each further id. Prints the
  /// number of stored notifications and the exceeded quotas.
  private static let flood = """
    import json, os, socket, sys
    def encoded(method, parameters, **flags):
        call = {"method": "org.taskschedd.Application." + method, "parameters": parameters, **flags}
        return json.dumps(call).encode() + b"\\0"
    def connect():
        s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"]); return s
    def receive(s, buffer, count):
        while buffer.count(b"\\0") < count:
            data = s.recv(1 << 20)
            if not data: sys.exit("the connection was closed")
            buffer += data
        return [json.loads(part) for part in buffer.split(b"\\0")[:count]]
    schedule = encoded("ScheduleNotification", {
        "content": {"title": "t" * 256, "body": "b" * 4096, "userData": "u" * 4096},
        "schedule": {"date": "2099-01-01T00:00:00", "timeZone": "UTC"}})
    kept, quotas = 0, set()
    for number in range(200):
        read, write = os.pipe()
        if os.fork() == 0:
            events = connect()
            events.sendall(encoded("Register", {"application": f"org.flood.n{number}",
                "background": True}, more=True))
            receive(events, b"", 1)
            calls, answers = connect(), []
            # When the user's quota is used up, a few calls of each further id are enough.
            for turn in range(16 if kept < 1024 else 1):
                calls.sendall(schedule * 8)
                answers += receive(calls, b"", 8)
            kept = sum("error" not in answer for answer in answers)
            names = {answer["parameters"]["quota"] for answer in answers if "error" in answer}
            os.write(write, json.dumps([kept, sorted(names)]).encode())
            os._exit(0)
        os.close(write)
        result = json.loads(os.read(read, 65536) or b'[0, ["it ended"]]')
        os.close(read); os.wait()
        kept += result[0]; quotas.update(result[1])
    print(json.dumps({"kept": kept, "quotas": sorted(quotas)}), flush=True)
    """

  private func residentBytes(_ daemon: DaemonFixture) throws -> Int {
    let bytes = try FileDescriptor.open(reading: "/proc/\(daemon.process.pid)/status").readToEnd()
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("VmRSS:") }
    return try unwrap(line.flatMap { Int($0.filter(\.isNumber)) }) << 10
  }

  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  @Test("§16 MaxNotificationsPerUser limits notifications under 200 unused ids; lists have pages")
  func freeIDs() throws {
    let daemon = try DaemonFixture()
    let before = try residentBytes(daemon)
    let flooding = try daemon.python(Self.flood, uid: nobody)
    let said = try JSONParser.parse(
      Array(try unwrap(try flooding.readLine(within: .seconds(120))).utf8))
    #expect(said == ["kept": 1024, "quotas": ["MaxNotificationsPerUser"]])
    // The operator's list comes in pages, each of which fits into a reply.
    var count = 0
    var input = ControlInterface.ListNotifications.Input()
    repeat {
      let page = try daemon.call(ControlInterface.ListNotifications.self, input)
      #expect(page.notifications.count <= 31, "256 KiB of texts of 8448 bytes")
      count += page.notifications.count
      input.after = page.next
    } while input.after != nil
    #expect(count == 1024)
    // The flooding user's own list has pages, too, and another user can still schedule and list.
    let user = try OtherUser(daemon, uid: nobody)
    let first = try user.call(user.open(), "org.taskschedd.Control.ListNotifications")
    #expect(first["parameters"]?["next"] == 31)
    let other = try TestApplication(daemon, "org.test.other", uid: nobody - 1)
    try other.registered()
    try other.notify("Mine", at: WallClockTime(in: 1000))
    #expect(try other.notifications().count == 1)
    let after = try residentBytes(daemon)
    let eventLog = try Directory.names(path: daemon.folder.file("event-log"))
      .map { size(daemon.folder.file("event-log/\($0)")) }.reduce(0, +)
    let store = size(daemon.folder.file("state/notifications.db"))
    print("resident \(before >> 10) to \(after >> 10) KiB, event log \(eventLog >> 10) KiB, "
      + "store \(store >> 10) KiB")
    #expect(after - before < 24 << 20)
    #expect(eventLog < 4 << 20)
    #expect(store < 16 << 20)
    // The user can cancel a stored notification by its id alone.
    let cancel: JSONValue = ["notification": 7]
    let cancelled = try user.call(
      user.open(), "org.taskschedd.Control.CancelNotifications", cancel)
    #expect(cancelled["parameters"]?["cancelled"] == [7])
  }
}
