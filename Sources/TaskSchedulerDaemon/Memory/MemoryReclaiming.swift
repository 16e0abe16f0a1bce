import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Reclaims the memory of killed instances: makes the kernel free their memory sooner, and waits
/// until their processes have exited.
final class MemoryReclaiming {
  private let proc: ProcFS
  private let loop: EventLoop
  private var waiting: [Waiting] = []

  private final class Waiting {
    let pidfd: PIDFD
    let instance: InstanceID
    var source: DescriptorSource?

    init(_ pidfd: consuming PIDFD, of instance: InstanceID) {
      self.pidfd = pidfd
      self.instance = instance
    }

    deinit {
      // The source must be released before the descriptor that it watches.
      source = nil
    }
  }

  init(proc: ProcFS, loop: EventLoop) {
    self.proc = proc
    self.loop = loop
  }

  /// Calls `done` once, when all processes of the instance have exited. A second call for the same
  /// instance before then replaces the first call, whose `done` is never called.
  ///
  /// - Parameter instance: The instance; nil if the daemon no longer manages it. The function then
  ///   calls `done` at once.
  func reclaim(_ instance: InstanceProcesses?, done: @escaping () -> Void) {
    guard let instance else { return done() }
    let id = instance.id
    // A second request for the same instance replaces the first.
    waiting.removeAll { $0.instance == id }
    for handle in members(of: instance) {
      restorePriority(handle)
      do throws(SystemError) {
        let one = Waiting(try handle.pidfd.duplicate(), of: id)
        if try one.pidfd.hasEnded() { continue }
        one.source = try loop.watch(one.pidfd.rawValue, for: .input) {
          [unowned self, unowned one] _ in
          waiting.removeAll { $0 === one }
          if !waiting.contains(where: { $0.instance == id }) { done() }
        }
        waiting.append(one)
      } catch {
        // Without a descriptor, the daemon cannot wait for the exit of the process.
        continue
      }
    }
    let own = waiting.filter { $0.instance == id }
    ProcessMemory.release(own.map { $0.pidfd.rawValue })
    if own.isEmpty { done() }
  }

  /// Sets the nice value of all threads of the process to 0. These threads free the memory of the
  /// process; at background priority, they would run last. If the daemon has no permission, the
  /// exit takes longer.
  private func restorePriority(_ handle: ProcessHandle) {
    let pid = handle.identity.pid
    for thread in (try? proc.threads(pid) ?? []) ?? [] {
      try? proc.set(.nice, to: 0, thread: thread, process: pid, group: nil)
    }
  }

  private func members(of instance: InstanceProcesses) -> [ProcessHandle] {
    var handles = [instance.leader] + instance.stopped.map(\.process)
    let known = Set(handles.map(\.identity))
    for pid in (try? instance.origin.group?.processes()) ?? [] {
      guard let identity = (try? proc.identity(pid)) ?? nil, !known.contains(identity),
        let handle = (try? ProcessHandle(identity, in: proc)) ?? nil
      else { continue }
      handles.append(handle)
    }
    return handles
  }
}
