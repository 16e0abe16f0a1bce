import EventLoop
import LinuxSystem

/// A watch that reports when another program has thawed a frozen control group.
final class FrozenGroupWatch {
  let group: ControlGroup
  private let events: FileDescriptor
  private var source: DescriptorSource?

  init(
    _ group: ControlGroup, loop: EventLoop, thawed: @escaping () -> Void
  ) throws(SystemError) {
    self.group = group
    events = try group.watchEvents()
    // The kernel reports only changes that happen after the file was read. The daemon therefore
    // reads the file once before it waits.
    _ = try ControlGroup.events(of: events.rawValue)
    source = try loop.watch(events.rawValue, for: .priority) { [weak self] _ in
      guard let self else { return }
      _ = try? ControlGroup.events(of: events.rawValue)
      // A killed process leaves the freezer briefly, which the kernel reports like a thaw. Report
      // only a thaw that another program requested.
      if group.isThawed { thawed() }
    }
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
  }
}

extension ControlGroup {
  /// Whether another program has requested that the kernel thaw the group; false if the group no
  /// longer exists.
  var isThawed: Bool { ((try? isToBeFrozen()) ?? nil) == false }
}
