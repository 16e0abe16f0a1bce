import TaskSchedulerCore
import Testing

@testable import LinuxSystem
@testable import TaskSchedulerDaemon

@Suite("§1: Seats of applications whose manifest names no seat")
struct DefaultSeatsTests {
  private let seats = DefaultSeats()
  private var graphical: SeatID { seats.ofUser(1000) }

  /// Returns the stat of a process in a session. `terminal` is the device number of the controlling
  /// terminal; 0 means that the process has none.
  private func process(session: Int = 4711, terminal: Int) throws -> ProcessStat {
    let line = "99 (sh) S 1 99 \(session) \(terminal) 99 0 0 0 0 0 1 1 0 0 20 0 1 0 500 0 0\n"
    return try #require(Array(line.utf8).withUnsafeBytes { ProcessStat(parsing: $0) })
  }

  @Test("A process that has a controlling terminal is at the seat of that terminal and session")
  func terminal() throws {
    let process = try process(terminal: 0x8803)
    #expect(seats.ofTerminal(process, in: graphical)?.name == "user-1000/pts/3:4711")
    let ssh = seats.ofOtherSession("5")
    #expect(seats.ofTerminal(process, in: ssh)?.name == "session-5/pts/3:4711")
    #expect(seats.ofTerminal(try self.process(terminal: 0), in: graphical) == nil)
  }

  @Test("A terminal that has the number of a closed terminal is another seat")
  func reusedNumber() throws {
    let (closed, fresh) = (try process(terminal: 0x8803), try process(session: 5, terminal: 0x8803))
    #expect(seats.ofTerminal(closed, in: graphical) != seats.ofTerminal(fresh, in: graphical))
  }

  @Test("The seats of two users differ, even at the same terminal")
  func users() throws {
    let process = try process(terminal: 0x8803)
    let other = seats.ofUser(1001)
    #expect(seats.ofTerminal(process, in: graphical) != seats.ofTerminal(process, in: other))
    #expect(graphical != other)
  }

  @Test(
    "The default seat belongs to the user; an adopted program without a terminal has its own seat")
  func noTerminal() throws {
    let id = try #require(ApplicationID("org.example.backup"))
    let application = ApplicationKey(id, owner: UserID(1000))
    #expect(graphical.name == "user-1000")
    #expect(seats.alone(application, in: graphical).name == "user-1000/org.example.backup")
  }

  @Test("The seats of a graphical session are within its seat, and those of ssh are not")
  func within() throws {
    let process = try process(terminal: 0x8803)
    let terminal = try #require(seats.ofTerminal(process, in: graphical))
    #expect(graphical.contains(terminal))
    #expect(graphical.contains(graphical))
    #expect(!terminal.contains(graphical))
    #expect(!graphical.contains(seats.ofUser(10001)))
    #expect(!graphical.contains(seats.ofOtherSession("5")))
  }
}
