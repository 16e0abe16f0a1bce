import TaskSchedulerCore

// The stored forms of the daemon's state and notes.

extension DaemonState: StoredByForm {
  package static let form = Form(
    derived: {
      var daemonState = DaemonState()
      daemonState.instances = $0
      daemonState.connections = $1
      for details in $2 as [LeaderDetails] {
        daemonState.unmanagedLeaders[details.leader] = details
      }
      for instance in $3 as [Instance] {
        daemonState.leftRunning[instance.details.leader] = instance
      }
      return daemonState
    }, \.instances, \.connections,
    { @Sendable in $0.unmanagedLeaders.values.sorted { $0.leader < $1.leader } },
    { @Sendable in $0.leftRunning.values.sorted { $0.details.leader < $1.details.leader } })
}

extension DaemonState.Instance: StoredByForm {
  package static let form = Form(
    DaemonState.Instance.init(
      application:details:stopped:release:lowered:leadsSession:leadsGroup:), \.application,
    \.details, \.stopped, \.release, \.lowered, \.leadsSession, \.leadsGroup)
}

extension DaemonState.LeaderDetails: StoredByForm {
  package static let form = Form(
    DaemonState.LeaderDetails.init(leader:uid:group:marker:mechanism:isLaunched:launch:), \.leader,
    \.uid,
    \.group, \.marker, \.mechanism, \.isLaunched, \.launch)
}

extension DaemonState.Stopped: StoredByForm {
  package static let form = Form(
    DaemonState.Stopped.init(process:wasStopped:), \.process, \.wasStopped)
}

extension DaemonState.Lowered: StoredByForm {
  package static let form = Form(
    DaemonState.Lowered.init(thread:process:group:kind:before:after:), \.thread, \.process,
    \.group,
    \.kind, \.before, \.after)
}

extension DaemonState.Release: Stored {}

extension DaemonState.Connection: StoredByForm {
  package static let form = Form(
    DaemonState.Connection.init(stream:monitor:waiting:input:isUnsaved:), \.stream, \.monitor,
    \.waiting, \.input, \.isUnsaved)
}

extension DaemonState.Monitor: StoredByForm {
  package static let form = Form(
    DaemonState.Monitor.init(uid:application:), \.uid, \.application)
}

extension DaemonState.Waiting: StoredByForm {
  package static let form = Form(
    DaemonState.Waiting.init(request:method:application:takesMore:isOneway:), \.request, \.method,
    \.application, \.takesMore, \.isOneway)
}

extension LoggedCall: StoredByForm {
  package static let form = Form(
    LoggedCall.init(connection:waiting:), \.connection, \.waiting)
}

/// Stored as a count and the bytes.
extension MessagePart: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self.init(Array(try reader.readBytes()))
  }

  package func write(to writer: inout StoredWriter) { writer.write(bytes: bytes) }
}

extension Note: StoredByForm {
  package static let form = Form(cases: [
    Case("leader", Note.leader) { if case .leader(let a) = $0 { a } else { nil } },
    Case("stopping", Note.stopping) {
      if case .stopping(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("resumed", Note.resumed) { if case .resumed(let a) = $0 { a } else { nil } },
    Case("forgotten", Note.forgotten) { if case .forgotten(let a) = $0 { a } else { nil } },
    Case("stream", Note.stream) { if case .stream(let a, let b) = $0 { (a, b) } else { nil } },
    Case("monitor", Note.monitor) { if case .monitor(let a, let b) = $0 { (a, b) } else { nil } },
    Case("input", Note.input) { if case .input(let a, let b) = $0 { (a, b) } else { nil } },
    Case("inputComplete", Note.inputComplete) {
      if case .inputComplete(let a) = $0 { a } else { nil }
    },
    Case("unsaved", Note.unsaved) { if case .unsaved(let a, let b) = $0 { (a, b) } else { nil } },
    Case("lowering", Note.lowering) {
      if case .lowering(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("restored", Note.restored) { if case .restored(let a) = $0 { a } else { nil } },
  ])
}

extension EventLogStart: StoredByForm {
  package static let form = Form(
    EventLogStart.init(writer:eventCount:requestLast:at:effects:effectsDone:), \.writer,
    \.eventCount, \.requestLast, \.at, \.effects, \.effectsDone)
}
