import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("The watch of the clock")
struct ClockSetWatchTests {
  @Test("The clock watch reports nothing while the clock is not set")
  func quiet() throws {
    let watch = try ClockSetWatch()
    #expect(try !watch.takeSetting())
    let events = try Readiness.wait(
      for: Int16(POLLIN), on: watch.descriptor.rawValue, timeout: .zero)
    #expect(events == 0)
  }

  #if DEBUG
    @Test(
      "The clock watch reports a change when the kernel cancels its timer (simulated ECANCELED)")
    func set() throws {
      let watch = try ClockSetWatch()
      let wasSet: @Sendable (String) -> Int32? = { $0 == "read timerfd" ? ECANCELED : nil }
      #expect(try SyscallFaults.$errnoFor.withValue(wasSet) { try watch.takeSetting() })
      #expect(try !watch.takeSetting())
    }
  #endif

  @Test("The clock's offset comes from the fastest of several readings, rounded to a microsecond")
  func offset() {
    typealias Bracket = WallClock.Bracket
    let brackets = [
      Bracket(before: 1_000, wall: 9_000_000, after: 901_000),
      Bracket(before: 2_000, wall: 1_002_100, after: 2_200),
      Bracket(before: 3_000, wall: 1_003_500, after: 4_000),
    ]
    #expect(WallClock.offset(of: brackets) == 1_000_000)
    #expect(WallClock.offset(of: [Bracket(before: 500, wall: 0, after: 500)]) == -500)
  }

  @Test("The clock's offset stays the same when it is read repeatedly")
  func stays() {
    let first = WallClock.offset()
    for _ in 0..<100 { #expect((WallClock.offset() - first).magnitude < 1_000_000) }
    let now = Int64(BootClock.now()) + first
    #expect(
      (now / 1_000 - WallClock.now()).magnitude < 1_000_000,
      "boot time plus the offset is the wall-clock time")
  }
}

@Suite("The watch of a directory")
struct FolderWatchTests {
  private let folder = TemporaryDirectory()

  /// Waits for the first event, and returns the names of all events.
  private func names(_ watch: borrowing DirectoryWatch) throws -> [String] {
    try waitFor(POLLIN, on: watch.descriptor.rawValue)
    return try watch.takeChanges().map(\.name)
  }

  @Test("The watch reports entries that are created, replaced, written and removed")
  func changes() throws {
    let watch = try DirectoryWatch()
    let watched = try watch.add(folder.path)
    #expect(try watch.add(folder.path) == watched)
    #expect(try watch.takeChanges().isEmpty)
    folder.write("a", "text")
    #expect(try names(watch).allSatisfy { $0 == "a" })
    #expect(rename(folder.file("a"), folder.file("b")) == 0)
    #expect(try names(watch) == ["a", "b"])
    unlink(folder.file("b"))
    #expect(try names(watch) == ["b"])
    #expect(symlink("nowhere", folder.file("link")) == 0)
    #expect(try names(watch) == ["link"])
    #expect(SymbolicLink.target(of: folder.file("link")) == "nowhere")
    #expect(SymbolicLink.target(of: folder.path) == nil)
  }

  @Test("The watch reports that a directory is gone, and names the directory of each change")
  func folders() throws {
    let watch = try DirectoryWatch()
    let outer = try watch.add(folder.path)
    #expect(mkdir(folder.file("inner"), 0o755) == 0)
    let inner = try watch.add(folder.file("inner"))
    _ = try watch.takeChanges()
    folder.write("inner/a", "")
    #expect(try watch.takeChanges().allSatisfy { $0.folder == inner && $0.name == "a" })
    unlink(folder.file("inner/a"))
    rmdir(folder.file("inner"))
    let changes = try watch.takeChanges()
    #expect(changes.contains { $0.folder == inner && $0.isEnd })
    #expect(changes.contains { $0.folder == outer && $0.name == "inner" && !$0.isEnd })
  }

  @Test("The watch refuses a path that is not a directory")
  func refused() throws {
    let watch = try DirectoryWatch()
    folder.write("file", "")
    for (name, code) in [("none", ENOENT), ("file", ENOTDIR)] {
      do throws(SystemError) {
        _ = try watch.add(folder.file(name))
        Issue.record("\(name) was watched")
      } catch {
        #expect(error.errno == code)
      }
    }
  }
}
