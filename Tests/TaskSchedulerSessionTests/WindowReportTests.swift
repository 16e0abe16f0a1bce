import LinuxSystem
import Testing

@testable import TaskSchedulerSession

@Suite("§20: When the session agent reports the windows")
struct WindowReportTests {
  private var reports = WindowReports()

  private func windows(focused pid: Int32) -> SessionWindows {
    SessionWindows([
      SessionWindow(process: ProcessIdentity(pid: pid, startTime: 1), visibility: .focused)
    ])
  }

  @Test("The first reports after a pause are sent at once; further ones follow every 20 ms")
  mutating func pace() {
    var times: [UInt64] = []
    var now: UInt64 = 1_000_000_000
    for pid in 1...8 as ClosedRange<Int32> {
      reports.update(windows(focused: pid))
      now = max(now, reports.next ?? 0)
      let report = reports.take(at: now)
      #expect(report == .windows(windows(focused: pid)))
      times.append((now - 1_000_000_000) / 1_000_000)
    }
    #expect(times == [0, 0, 0, 0, 20, 40, 60, 80])
  }

  @Test("10,000 changes of the focus in a second become 54 reports, the last with the last window")
  mutating func flood() {
    var sent: [WindowReports.Report] = []
    for step in 0..<10_000 as Range<UInt64> {
      reports.update(windows(focused: Int32(step)))
      if let report = reports.take(at: 1_000_000_000 + step * 100_000) { sent.append(report) }
    }
    while let next = reports.next {
      if let report = reports.take(at: next) { sent.append(report) }
    }
    #expect(sent.count == 54)
    #expect(sent.last == .windows(windows(focused: 9999)))
  }

  @Test("A change that is undone before its report is not reported")
  mutating func undone() {
    reports.update(windows(focused: 1))
    let first = reports.take(at: 0)
    #expect(first != nil)
    reports.update(windows(focused: 2))
    reports.update(windows(focused: 1))
    let second = reports.take(at: 1)
    #expect(reports.next == nil && second == nil)
  }

  @Test("A new attachment receives all windows, and no report if nothing is known about them")
  mutating func attached() {
    reports.attached()
    #expect(reports.next == nil)
    reports.update(windows(focused: 1))
    let first = reports.take(at: 0)
    #expect(first == .windows(windows(focused: 1)))
    reports.attached()
    let second = reports.take(at: 1)
    #expect(second == .windows(windows(focused: 1)))
    reports.update(nil)
    let third = reports.take(at: 2)
    #expect(third == .forget)
    reports.attached()
    #expect(reports.next == nil)
  }
}
