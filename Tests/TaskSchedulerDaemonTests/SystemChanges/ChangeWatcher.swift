import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport

@testable import TaskSchedulerDaemon

/// An event loop, and the changes that providers report on it.
final class ChangeWatcher {
  let loop: EventLoop
  private(set) var changes: [SystemChange] = []
  private let limit: TimerSource
  private let isLate = Flag()

  private final class Flag {
    var isSet = false
  }

  init() throws {
    loop = try EventLoop()
    limit = try loop.timer { [isLate] in isLate.isSet = true }
    limit.set(BootClock.after(deadline))
  }

  /// The closure to which the providers report.
  var report: SystemChangeReport { { [unowned self] in changes.append($0) } }

  /// Waits for the next change, and returns it.
  func next() throws -> SystemChange {
    try wait(for: "a change") { !changes.isEmpty }
    return changes.removeFirst()
  }

  /// Runs the loop until a condition holds.
  ///
  /// - Throws: ETIMEDOUT if the deadline passes first.
  func wait(for what: String, until isSo: () -> Bool) throws {
    while !isSo() {
      if isLate.isSet { throw SystemError(call: "waiting for \(what)", errno: ETIMEDOUT) }
      try loop.turn(within: .seconds(1))
    }
  }
}

/// A simulated directory such as /etc.
struct SimulatedEtc {
  let folder = TemporaryDirectory()
  var path: String { folder.path }

  /// Replaces the link `localtime`, as timedatectl does.
  func setZone(_ name: String) throws {
    let fresh = folder.file(".localtime.new")
    guard symlink("/usr/share/zoneinfo/\(name)", fresh) == 0 else {
      throw SystemError(call: "symlink", errno: errno)
    }
    try move(fresh, to: "localtime")
  }

  /// Writes a new file, and renames it to `name`, as editors do.
  func replace(_ name: String, _ text: String) throws {
    try move(folder.write(".new", text), to: name)
  }

  func makeFolder(_ name: String) throws {
    guard mkdir(folder.file(name), 0o755) == 0 else {
      throw SystemError(call: "mkdir", errno: errno)
    }
  }

  private func move(_ path: String, to name: String) throws {
    guard rename(path, folder.file(name)) == 0 else {
      throw SystemError(call: "rename", errno: errno)
    }
  }
}
