import EventLoop
import LinuxSystem

/// Removes the control groups of ended instances when their last process is gone. Killed processes
/// need some time to leave.
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
      // Before the attempt: the kernel reports later changes.
      _ = try ControlGroup.events(of: grave.watch.rawValue)
      if remove(group) { return }
      grave.source = try loop.watch(grave.watch.rawValue, for: .priority) { [unowned self] _ in
        look(group)
      }
      waiting[group] = grave
    } catch {
      // The group is gone already, or is not the daemon's. An empty group costs nothing.
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
