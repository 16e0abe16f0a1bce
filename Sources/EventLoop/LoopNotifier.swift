import Glibc
import LinuxSystem

/// A notifier with which another thread tells the loop that a result is ready. The loop watches the
/// notifier's descriptor, which ``notify()`` makes readable.
package final class LoopNotifier: Sendable {
  private let event: FileDescriptor

  package init() throws(SystemError) { event = try FileDescriptor.event() }

  package var rawValue: Int32 { event.rawValue }

  package func notify() {
    var one: UInt64 = 1
    // The write fails only if the descriptor is already readable.
    _ = write(event.rawValue, &one, MemoryLayout<UInt64>.size)
  }

  package func clear() {
    var count: UInt64 = 0
    _ = read(event.rawValue, &count, MemoryLayout<UInt64>.size)
  }
}
