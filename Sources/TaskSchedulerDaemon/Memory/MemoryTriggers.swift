import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Hears from the kernel when processes wait for memory: those of the machine, and those of the
/// slice that the applications are in.
///
/// A trigger tells once in a window, which is half a second at least: time enough to use up what is
/// left below the floor. One that has told is therefore replaced, and the new one tells as soon as
/// there was as much waiting again, which the kernel looks at ten times in a window.
final class MemoryTriggers {
  private let loop: EventLoop
  private let log: Log
  /// Where each is; nil where there is none.
  private let paths: [MemoryPressure.Source: String]
  private let pressed: (MemoryPressure.Source) -> Void
  private var watches: [Watch] = []
  private var asked: (stall: Duration, window: Duration)?

  private final class Watch {
    var trigger: PressureTrigger
    let kind: MemoryPressure.Source
    var source: DescriptorSource?

    init(_ trigger: consuming PressureTrigger, _ kind: MemoryPressure.Source) {
      self.trigger = trigger
      self.kind = kind
    }

    deinit {
      // Before the descriptor that it watches.
      source = nil
    }
  }

  init(
    loop: EventLoop, log: Log, paths: [MemoryPressure.Source: String],
    pressed: @escaping (MemoryPressure.Source) -> Void
  ) {
    self.loop = loop
    self.log = log
    self.paths = paths
    self.pressed = pressed
  }

  /// Asks the kernel for triggers as the policy wants them, where that is something new.
  func set(stall: Duration, window: Duration) {
    if let asked, asked == (stall, window) { return }
    asked = (stall, window)
    watches = []
    for kind in MemoryPressure.Source.allCases {
      guard let path = paths[kind] else { continue }
      do throws(SystemError) {
        let watch = try watch(kind, path, stall, window)
        if watch.trigger.window != window {
          log.write(
            .info, "\(path): without CAP_SYS_RESOURCE the kernel tells of pressure within "
              + "\(TimeSpan.format(watch.trigger.window)) in place of \(TimeSpan.format(window))")
        }
      } catch {
        log.write(
          .notice, "pressure on memory of the \(kind.rawValue) is not heard of, and ends no "
            + "application: \(error)")
      }
    }
  }

  @discardableResult
  private func watch(
    _ kind: MemoryPressure.Source, _ path: String, _ stall: Duration, _ window: Duration
  ) throws(SystemError) -> Watch {
    let watch = Watch(try PressureTrigger(path: path, stall: stall, window: window), kind)
    watch.source = try loop.watch(watch.trigger.rawValue, for: .priority) {
      [unowned self, unowned watch] events in
      if events.contains(.error) {
        // Its control group was removed.
        watches.removeAll { $0 === watch }
      } else if watch.trigger.isTrue() {
        pressed(kind)
        replace(watch)
      }
    }
    watches.append(watch)
    return watch
  }

  /// By a new one, before the old one goes: without any the kernel would end its own watching, and
  /// begin it anew. Others' triggers (without CAP_SYS_RESOURCE) are looked at each 2 s anyway.
  private func replace(_ watch: Watch) {
    guard let asked, watch.trigger.window == asked.window, let path = paths[watch.kind],
      watches.contains(where: { $0 === watch })
    else { return }
    do throws(SystemError) {
      try self.watch(watch.kind, path, asked.stall, asked.window)
    } catch {
      // The old one goes on.
      return
    }
    watches.removeAll { $0 === watch }
  }

  /// What hears of it now.
  var numbers: [Int32] { watches.map { $0.trigger.rawValue } }

  /// What is heard of.
  var heard: [MemoryPressure.Source] { watches.map(\.kind) }
}
