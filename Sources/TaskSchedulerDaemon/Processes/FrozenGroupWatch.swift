import EventLoop
import LinuxSystem

/// Tells when a frozen control group is thawed by something other than the daemon.
final class FrozenGroupWatch {
  let group: ControlGroup
  private let events: FileDescriptor
  private var source: DescriptorSource?

  init(
    _ group: ControlGroup, loop: EventLoop, thawed: @escaping () -> Void
  ) throws(SystemError) {
    self.group = group
    events = try group.watchEvents()
    // A change is told since the last reading.
    _ = try ControlGroup.events(of: events.rawValue)
    source = try loop.watch(events.rawValue, for: .priority) { [weak self] _ in
      guard let self else { return }
      _ = try? ControlGroup.events(of: events.rawValue)
      // Not by what the events say: a process that is killed leaves the freezer for a moment.
      if group.isThawed { thawed() }
    }
  }

  deinit {
    // Before the descriptor that it watches.
    source = nil
  }
}

extension ControlGroup {
  /// Whether its processes were asked to run again; false where it is gone.
  var isThawed: Bool { ((try? isToBeFrozen()) ?? nil) == false }
}
