import EventLoop
import LinuxSystem

/// Removes the control groups of ended instances when their last process is gone. Killed processes
/// need some time to leave.
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
      // Before the attempt: the kernel reports later changes.
      _ = try ControlGroup.events(of: ended.watch.rawValue)
      if remove(group) { return }
      ended.source = try loop.watch(ended.watch.rawValue, for: .priority) { [unowned self] _ in
        check(group)
      }
      waiting[group] = ended
    } catch {
      // The group is gone already, or is not the daemon's. An empty group costs nothing.
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
