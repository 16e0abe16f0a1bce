import LinuxSystem
import TaskSchedulerCore

extension DescriptorStore.Inherited {
  /// Releases the inherited descriptors, because no event log describes them. Clients find their
  /// connections closed and register again. Resumes stopped leaders and their stopped descendants.
  func release(_ store: DescriptorStore, in proc: ProcFS) -> ProcessRelease.Outcome {
    for number in connections {
      // systemd keeps a copy for a while, which must not keep the connection open.
      try? UnixSocket.shutdown(number)
      FileDescriptor(taking: number).close()
    }
    for (id, watches) in sockets {
      for (socket, number) in watches {
        FileDescriptor(taking: number).close()
        store.remove(socket: socket, of: id)
      }
    }
    for (id, number) in pictures {
      FileDescriptor(taking: number).close()
      store.remove(picture: id)
    }
    var outcome = ProcessRelease.Outcome()
    for (id, number) in leaders {
      do throws(SystemError) {
        let leader = try PIDFD(adopting: FileDescriptor(taking: number))
        if let identity = try leader.identity(in: proc) {
          let stopped = try proc.descendants(of: [identity]).filter { $0.state == .stopped }
          outcome.add(ProcessRelease.resume(stopped.map(\.identity), groups: [], in: proc))
        }
      } catch {
        if error.errno != noSuchProcess { outcome.failures.append("instance \(id): \(error)") }
      }
      store.removeLeader(of: id)
    }
    return outcome
  }
}
