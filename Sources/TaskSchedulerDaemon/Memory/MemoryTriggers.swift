import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The triggers by which the kernel reports memory pressure: the pressure of the machine, and the
/// pressure of the applications' slice.
///
/// A trigger fires at most once in a window of at least half a second. Within that time,
/// applications can use up the remaining memory. The daemon therefore replaces a trigger that has
/// fired. The new trigger fires as soon as the same stall has occurred again; the kernel checks ten
/// times per window.
final class MemoryTriggers {
  private let loop: EventLoop
  private let log: Log
  /// The paths of the pressure files. A source without a pressure file is not in the table.
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
      // The source must be released before the descriptor that it watches.
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

  /// Registers triggers with these parameters, unless they are registered already.
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
            .info, "\(path): without CAP_SYS_RESOURCE the kernel measures memory pressure within "
              + "\(TimeSpan.format(watch.trigger.window)) instead of \(TimeSpan.format(window))")
        }
      } catch {
        log.write(
          .notice, "memory pressure of the \(kind.rawValue) is not monitored, and does not lead to "
            + "terminations: \(error)")
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
        // The control group no longer exists.
        watches.removeAll { $0 === watch }
      } else if watch.trigger.isTrue() {
        pressed(kind)
        replace(watch)
      }
    }
    watches.append(watch)
    return watch
  }

  /// Replaces a trigger that has fired. Registers the new trigger before it removes the old one:
  /// without any trigger, the kernel would stop measuring and start over.
  ///
  /// Does not replace a trigger whose window is longer than requested. The daemon then lacks
  /// CAP_SYS_RESOURCE, and the kernel checks its triggers only every 2 s. A new trigger would not
  /// fire sooner.
  private func replace(_ watch: Watch) {
    guard let asked, watch.trigger.window == asked.window, let path = paths[watch.kind],
      watches.contains(where: { $0 === watch })
    else { return }
    do throws(SystemError) {
      try self.watch(watch.kind, path, asked.stall, asked.window)
    } catch {
      // The old trigger stays in use.
      return
    }
    watches.removeAll { $0 === watch }
  }

  /// The descriptors of the triggers.
  var numbers: [Int32] { watches.map { $0.trigger.rawValue } }

  /// The sources for which the kernel reports memory pressure.
  var heard: [MemoryPressure.Source] { watches.map(\.kind) }
}
