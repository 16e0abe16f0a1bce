import TaskSchedulerCore
import Testing

@testable import TaskSchedulerEventLog

@Suite("An event log stores what the daemon holds")
struct StoredDaemonStateTests {
  @Test("A part of an unfinished message is stored with one byte for each byte of the message")
  func messagePart() throws {
    let part = MessagePart([UInt8](repeating: 0xE9, count: 1 << 16))
    let note = Note.input(part, connection: 7)
    let bytes = StoredWriter.bytes(of: note)
    #expect(bytes.count < part.bytes.count + 100)
    #expect(try StoredReader.read(Note.self, from: bytes) == note)
  }

  @Test("The daemon's state is read as it was written")
  func daemonState() throws {
    let leader = Leader(pid: 7, startTime: .max)
    let details = DaemonState.LeaderDetails(
      leader: leader, uid: .max, group: "/a.slice", marker: "m", mechanism: "freezer",
      isLaunched: true, launch: InstanceID(3))
    var instance = DaemonState.Instance(
      application: "org.example.mail", details: details,
      stopped: [true, false].map { DaemonState.Stopped(process: leader, wasStopped: $0) })
    instance.release = .kill
    instance.lowered = [
      .init(thread: leader, process: 4, group: "/b", kind: "nice", before: -20, after: 19),
      .init(thread: leader, process: 4, group: nil, kind: "io", before: .min, after: .max),
    ]
    instance.leadsSession = true
    instance.leadsGroup = false
    let plain = DaemonState.Instance(
      application: "org.example.maps",
      details: .init(
        leader: leader, uid: 0, group: nil, marker: nil, mechanism: nil, isLaunched: false))
    let connection = DaemonState.Connection(
      stream: InstanceID(1), monitor: .init(uid: 1000), isAgent: true,
      waiting: .init(
        request: RequestID(9), method: "org.taskschedd.Control.Terminate", application: "mail",
        takesMore: true, isOneway: false),
      input: MessagePart(Array(0...255)), isUnsaved: true)
    var daemonState = DaemonState()
    daemonState.instances = [InstanceID(1): instance, InstanceID(2): plain]
    daemonState.connections = [.max: connection, 0: .init()]
    daemonState.unmanagedLeaders = [leader: details]
    daemonState.leftRunning = [leader: instance]
    let bytes = StoredWriter.bytes(of: daemonState)
    #expect(try StoredReader.read(DaemonState.self, from: bytes) == daemonState)
  }

  @Test("A note of each case is read as it was written")
  func notes() throws {
    let id = InstanceID(3)
    let leader = Leader(pid: 7, startTime: 8)
    let notes: [Note] = [
      .leader(
        .init(
          leader: leader, uid: 0, group: nil, marker: nil, mechanism: nil, isLaunched: false)),
      .stopping(id, [.init(process: leader, wasStopped: true)]), .resumed(id), .forgotten(id),
      .stream(id, connection: 1), .monitor(.init(uid: nil, application: "a.b"), connection: 2),
      .input(MessagePart([0, 255]), connection: 3), .inputComplete(connection: 4),
      .unsaved(true, connection: 5),
      .lowering(
        id,
        [.init(thread: leader, process: 4, group: nil, kind: "nice", before: 0, after: 10)]),
      .restored(id), .agent(true, connection: 6),
    ]
    for note in notes {
      #expect(try StoredReader.read(Note.self, from: StoredWriter.bytes(of: note)) == note)
    }
    guard case .cases(let cases) = Note.parts else { return }
    #expect(Set(notes.map { StoredWriter.bytes(of: $0)[0] }).count == cases.count)
  }

  @Test("The checksum is that of zlib")
  func checksum() {
    #expect(Array("123456789".utf8).withUnsafeBytes { Checksum.crc32($0) } == 0xCBF4_3926)
    // The expected value is zlib's checksum of 32 bytes 0xFF.
    let ones = [UInt8](repeating: 0xFF, count: 32)
    #expect(ones.withUnsafeBytes { Checksum.crc32($0) } == 0xFF6C_AB0B)
  }
}
