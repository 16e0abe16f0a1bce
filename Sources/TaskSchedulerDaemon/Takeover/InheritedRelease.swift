import LinuxSystem
import TaskSchedulerCore

extension DescriptorStore.Inherited {
  /// Releases the inherited descriptors, because no event log describes them. Clients find their
  /// connections closed and register again. Resumes the stopped leaders and their descendants.
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
    return store.release(leaders: leaders, in: proc)
  }
}
