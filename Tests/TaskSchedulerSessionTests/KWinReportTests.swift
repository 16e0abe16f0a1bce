import LinuxSystem
import TaskSchedulerSession
import TaskSchedulerWire
import Testing

/// Tests without a real KWin, because KWin does not run without a screen on test machines. The
/// messages have the form in which `KWinScript` sends them.
@Suite("§20: The windows in messages of KWin's script, written by hand, without a real KWin")
struct KWinReportTests {
  @Test("A message becomes a snapshot with processes, visibility and application ids")
  func snapshot() throws {
    let report = try KWinReport(
      #"{"windows":[{"pid":10,"active":false,"shown":true,"id":"org.kde.konsole"},"#
        + #"{"pid":11,"active":true,"shown":true,"id":"org.kde.kate"},"#
        + #"{"pid":12,"active":false,"shown":false,"id":""},"#
        + #"{"pid":-1,"active":false,"shown":true,"id":"remote"}]}"#)
    let process = ProcessIdentity(pid: 11, startTime: 5)
    let snapshot = report.snapshot { $0 == 11 ? process : nil }
    #expect(
      snapshot.windows == [
        SessionWindow(process: nil, visibility: .visible, applicationID: "org.kde.konsole"),
        SessionWindow(process: process, visibility: .focused, applicationID: "org.kde.kate"),
        SessionWindow(process: nil, visibility: .hidden),
        SessionWindow(process: nil, visibility: .visible, applicationID: "remote"),
      ])
    #expect(try KWinReport(#"{"windows":[]}"#).windows.isEmpty)
  }

  @Test("Of several active windows, only the first is focused")
  func oneFocused() throws {
    let window = #"{"pid":1,"active":true,"shown":true,"id":"a"}"#
    let report = try KWinReport("{\"windows\":[\(window),\(window)]}")
    #expect(report.windows.map(\.visibility) == [.focused, .visible])
  }

  @Test(
    "A message without a needed member is refused, and the error names the member",
    arguments: [
      ("{}", "windows"), ("[]", "windows"), (#"{"windows":{}}"#, "windows"),
      (#"{"windows":[{}]}"#, "pid"), (#"{"windows":[1]}"#, "pid"),
      (#"{"windows":[{"pid":4294967296}]}"#, "pid"), (#"{"windows":[{"pid":1}]}"#, "active"),
      (#"{"windows":[{"pid":1,"active":true}]}"#, "shown"),
      (#"{"windows":[{"pid":1,"active":true,"shown":true,"id":null}]}"#, "id"),
    ])
  func malformed(_ text: String, _ field: String) {
    #expect(throws: KWinReportError.field(field)) { try KWinReport(text) }
  }

  @Test("A message that is not JSON or is longer than 1 MiB is refused")
  func refused() {
    #expect(throws: KWinReportError.self) { try KWinReport("{") }
    let long = String(repeating: " ", count: KWinReport.bytesMax + 1)
    #expect(throws: KWinReportError.oversized(bytes: long.utf8.count)) { try KWinReport(long) }
  }

  @Test("The script calls the agent by its unique name")
  func script() {
    let text = KWinScript.text(service: ":1.42")
    let call = #"callDBus(":1.42", "/org/taskschedd/Focus", "org.taskschedd.Focus", "Windows","#
    #expect(text.contains(call))
  }
}
