import LinuxSystem
import TaskSchedulerCore

/// Waits until the processes of an instance that was killed are gone, and has the kernel take their
/// memory back meanwhile.
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
      // Before the descriptor that it watches.
      source = nil
    }
  }

  init(proc: ProcFS, loop: EventLoop) {
    self.proc = proc
    self.loop = loop
  }

  /// Calls `done` once, when all are gone.
  ///
  /// - Parameter instance: nil where nothing of it is known any more.
  func reclaim(_ instance: InstanceProcesses?, done: @escaping () -> Void) {
    guard let instance else { return done() }
    let id = instance.id
    // Of one that it was asked of before, too.
    waiting.removeAll { $0.instance == id }
    for handle in members(of: instance) {
      hasten(handle)
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
        // No descriptor to wait with: its end is not waited for.
        continue
      }
    }
    let own = waiting.filter { $0.instance == id }
    ProcessMemory.release(own.map { $0.pidfd.rawValue })
    if own.isEmpty { done() }
  }

  /// Its threads give their memory back themselves, and for having been in the background they
  /// stand behind all others. Where that is refused they take their time.
  private func hasten(_ handle: ProcessHandle) {
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
