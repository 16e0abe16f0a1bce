import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal
import TestSupport
import Testing

@testable import taskctl

@Suite("taskctl release, without a daemon")
struct ReleaseTests {
  @Test("where there is no journal it says so, and exits with 0; in a unit it says nothing")
  func nothing() throws {
    let folder = TemporaryDirectory()
    let socket = folder.file("socket")
    let outcome = try TaskctlProcess(["release"], socket: socket).outcome()
    #expect(outcome.code == 0)
    let path = folder.file("journal")
    #expect(outcome.output == "there is no journal at \(path): nothing to let run\n")
    let unit = try TaskctlProcess(["release", "--unless-restarted"], socket: socket).outcome()
    #expect(unit.code == 0)
    #expect(unit.output + unit.errors == "")
  }

  @Test("a wrong path is an error that names it")
  func wrongPath() throws {
    let folder = TemporaryDirectory()
    for (path, words) in [
      (folder.file("nowhere"), "there is no \(folder.file("nowhere"))"),
      (folder.path, "the folder \(folder.path) holds no journal"),
      ("/dev/null", "/dev/null is a device"),
    ] {
      let outcome = try TaskctlProcess(["release", "--journal", path], socket: nil).outcome()
      #expect(outcome.code == 1)
      #expect(outcome.errors == "taskctl: UnreadableJournal: \(words)\n")
    }
  }

  @Test("it takes a journal as well as its folder", arguments: [false, true])
  func file(isFile: Bool) throws {
    let folder = TemporaryDirectory()
    let path = folder.file("journal.1")
    try FileDescriptor.createForTest(path).close()
    let outcome = try TaskctlProcess(
      ["release", "--journal", isFile ? path : folder.path], socket: nil
    ).outcome()
    // It is no journal, and is read.
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("not let run: what \(path) names: "))
  }
}
