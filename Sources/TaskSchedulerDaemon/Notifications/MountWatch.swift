import EventLoop
import Glibc
import LinuxSystem

/// Reports each change of the mount table of this process's mount namespace.
///
/// systemd creates a user's runtime directory first, and mounts a file system over it later.
/// inotify does not report the mount.
final class MountWatch {
  private let descriptor: Int32
  private var source: DescriptorSource?

  init(loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
    let file = try FileDescriptor.open(reading: "/proc/self/mountinfo")
    // By proc(5), each open file receives one priority event per change.
    source = try loop.watch(file.rawValue, for: [.priority]) { _ in handler() }
    descriptor = file.take()
  }

  deinit {
    source = nil
    close(descriptor)
  }
}
