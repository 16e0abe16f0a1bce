import TaskSchedulerCore
import Testing

@testable import LinuxSystem
@testable import TaskSchedulerDaemon

@Suite("§1: Seats of applications whose manifest names no seat")
struct DefaultSeatsTests {
  private let system = DefaultSeats(isUserDaemon: false)
  private let own = DefaultSeats(isUserDaemon: true)

  /// Returns a process of session 4711 with or without a terminal.
  private func process(session: Int = 4711, terminal: Int) throws -> ProcessStat {
    let line = "99 (sh) S 1 99 \(session) \(terminal) 99 0 0 0 0 0 1 1 0 0 20 0 1 0 500 0 0\n"
    return try #require(Array(line.utf8).withUnsafeBytes { ProcessStat(parsing: $0) })
  }

  @Test("A process that has a controlling terminal is at the seat of that terminal and session")
  func terminal() throws {
    let process = try process(terminal: 0x8803)
    #expect(system.ofTerminal(process, uid: 1000)?.name == "user-1000/pts/3:4711")
    #expect(own.ofTerminal(process, uid: 1000)?.name == "pts/3:4711")
    #expect(system.ofTerminal(try self.process(terminal: 0), uid: 1000) == nil)
  }

  @Test("A terminal that has the number of a closed terminal is another seat")
  func reusedNumber() throws {
    let (closed, fresh) = (try process(terminal: 0x8803), try process(session: 5, terminal: 0x8803))
    #expect(system.ofTerminal(closed, uid: 1000) != system.ofTerminal(fresh, uid: 1000))
  }

  @Test("In the system's daemon, the seats of two users differ, even at the same terminal")
  func users() throws {
    let process = try process(terminal: 0x8803)
    #expect(system.ofTerminal(process, uid: 1000) != system.ofTerminal(process, uid: 1001))
    #expect(system.ofUser(1000) != system.ofUser(1001))
  }

  @Test(
    "The default seat belongs to the user; an adopted program without a terminal has its own seat")
  func noTerminal() throws {
    let id = try #require(ApplicationID("org.example.backup"))
    let application = ApplicationKey(id, owner: UserID(1000))
    #expect(system.ofUser(1000).name == "user-1000")
    #expect(own.ofUser(1000).name == "seat0")
    #expect(system.alone(application).name == "user-1000/org.example.backup")
    #expect(own.alone(application).name == "org.example.backup")
  }
}
