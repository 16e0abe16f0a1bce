import EventLoop
import Glibc
import LinuxSystem

/// Tells of every change of what is mounted where, as far as this process sees it.
///
/// A runtime directory is created first and mounted over later, which inotify does not report.
final class MountWatch {
  private let descriptor: Int32
  private var source: DescriptorSource?

  init(loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
    let file = try FileDescriptor.open(reading: "/proc/self/mountinfo")
    // proc(5): a change is a priority event, told once to each open file.
    source = try loop.watch(file.rawValue, for: [.priority]) { _ in handler() }
    descriptor = file.take()
  }

  deinit {
    source = nil
    close(descriptor)
  }
}
