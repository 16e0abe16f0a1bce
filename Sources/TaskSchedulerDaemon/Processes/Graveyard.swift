import EventLoop
import LinuxSystem

/// Removes the control groups of ended instances after the exit of their last process. Killed
/// processes need some time to exit.
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
      // The source must be removed before its descriptor is closed.
      source = nil
    }
  }

  init(loop: EventLoop) {
    self.loop = loop
  }

  func bury(_ group: ControlGroup) {
    do throws(SystemError) {
      let grave = Grave(try group.watchEvents())
      // Reading the events before the attempt makes the kernel report later changes.
      _ = try ControlGroup.events(of: grave.watch.rawValue)
      if remove(group) { return }
      grave.source = try loop.watch(grave.watch.rawValue, for: .priority) { [unowned self] _ in
        look(group)
      }
      waiting[group] = grave
    } catch {
      // The group no longer exists, or the daemon may not remove it. An empty group uses almost no
      // memory.
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
