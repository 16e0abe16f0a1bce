import TaskSchedulerWire
import Testing

@testable import TaskSchedulerClient

@Suite struct SnapshotTests {
  @Test("A snapshot reaches the daemon with its image")
  func image() throws {
    let fixture = try Fixture()
    try fixture.application.setSnapshotAndWait(Array("PNG".utf8))
    #expect(fixture.daemon.state.current.calls.last == "SetSnapshot PNG shown")
    try fixture.application.setSnapshotAndWait(nil)
    #expect(fixture.daemon.state.current.calls.last == "SetSnapshot - shown")
  }

  @Test("The image of a sensitive snapshot does not leave the process")
  func sensitive() throws {
    let fixture = try Fixture()
    try fixture.application.setSnapshotAndWait(Array("secret".utf8), isSensitive: true)
    #expect(fixture.daemon.state.current.calls.last == "SetSnapshot - sensitive")
  }

  @Test("The asynchronous call has the same effect")
  func asynchronous() async throws {
    let fixture = try Fixture()
    try await fixture.application.setSnapshot(Array("PNG".utf8))
    #expect(fixture.daemon.state.current.calls.last == "SetSnapshot PNG shown")
    try await fixture.application.setSnapshot(nil, isSensitive: true)
    #expect(fixture.daemon.state.current.calls.last == "SetSnapshot - sensitive")
  }

  @Test("A refused image is an error with the reason")
  func refused() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "SetSnapshot",
      with: ApplicationInterface.Failure.invalidSnapshot(
        parameter: "snapshotFileDescriptor", reason: "it is an empty file"))
    let refusal = ApplicationRefusal.invalidSnapshot(
      field: "snapshotFileDescriptor", reason: "it is an empty file")
    #expect(throws: ApplicationError.refused(refusal)) {
      try fixture.application.setSnapshotAndWait([])
    }
    #expect(refusal.description == "the snapshot is not valid: it is an empty file")
  }

  @Test("The library sets the snapshot again if the daemon restarts during the call")
  func restart() throws {
    let fixture = try Fixture()
    fixture.daemon.state.update { $0.closesAfter = "SetSnapshot" }
    try fixture.application.setSnapshotAndWait(Array("PNG".utf8))
    let calls = fixture.daemon.state.current.calls.filter { $0.hasPrefix("SetSnapshot") }
    #expect(calls == ["SetSnapshot PNG shown", "SetSnapshot PNG shown"])
  }
}
