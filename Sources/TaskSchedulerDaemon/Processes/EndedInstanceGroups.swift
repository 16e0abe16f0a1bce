import EventLoop
import LinuxSystem

/// The control groups of ended instances. Killed processes need some time to exit, so the daemon
/// removes a group only after the last process in it has exited.
final class EndedInstanceGroups {
  private let loop: EventLoop
  private var waiting: [ControlGroup: EndedGroup] = [:]

  private final class EndedGroup {
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

  func removeWhenEmpty(_ group: ControlGroup) {
    do throws(SystemError) {
      let ended = EndedGroup(try group.watchEvents())
      // The kernel reports only changes that happen after the file was read. The daemon therefore
      // reads the file before it tries to remove the group.
      _ = try ControlGroup.events(of: ended.watch.rawValue)
      if remove(group) { return }
      ended.source = try loop.watch(ended.watch.rawValue, for: .priority) { [unowned self] _ in
        check(group)
      }
      waiting[group] = ended
    } catch {
      // The group no longer exists, or the daemon cannot watch it. An empty group may stay, because
      // it uses almost no memory.
    }
  }

  private func check(_ group: ControlGroup) {
    guard let ended = waiting[group] else { return }
    let events = try? ControlGroup.events(of: ended.watch.rawValue)
    if events == nil || remove(group) { waiting[group] = nil }
  }

  private func remove(_ group: ControlGroup) -> Bool {
    (try? group.remove()) != nil
  }
}
