import EventLoop
import LinuxSystem

/// Removes the control groups of instances that are over, when their last process is gone: killed
/// processes take their time to leave.
final class Graveyard {
  private let loop: EventLoop
  private var waiting: [ControlGroup: Grave] = [:]

  private final class Grave {
    let watch: FileDescriptor
    var source: DescriptorSource?

    init(_ watch: consuming FileDescriptor) {
      self.watch = watch
    }

    deinit {
      // Before the descriptor that it watches.
      source = nil
    }
  }

  init(loop: EventLoop) {
    self.loop = loop
  }

  func bury(_ group: ControlGroup) {
    do throws(SystemError) {
      let grave = Grave(try group.watchEvents())
      // Read before the attempt: what changes after it is reported.
      _ = try ControlGroup.events(of: grave.watch.rawValue)
      if remove(group) { return }
      grave.source = try loop.watch(grave.watch.rawValue, for: .priority) { [unowned self] _ in
        look(group)
      }
      waiting[group] = grave
    } catch {
      // Gone already, or not ours to remove: an empty group costs nothing.
    }
  }

  private func look(_ group: ControlGroup) {
    guard let grave = waiting[group] else { return }
    let events = try? ControlGroup.events(of: grave.watch.rawValue)
    if events == nil || remove(group) { waiting[group] = nil }
  }

  private func remove(_ group: ControlGroup) -> Bool {
    (try? group.remove()) != nil
  }
}
