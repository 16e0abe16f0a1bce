import TaskSchedulerCore

// The forms in which the event log stores the daemon's state and the notes.

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
    { @Sendable in $0.unmanagedLeaders.sortedByKey.map(\.value) },
    { @Sendable in $0.leftRunning.sortedByKey.map(\.value) })
}

extension DaemonState.Instance: StoredByForm {
  package static let form = Form(
    DaemonState.Instance.init(
      application:details:stopped:release:lowered:leadsSession:leadsGroup:), \.application,
    \.details, \.stopped, \.release, \.lowered, \.leadsSession, \.leadsGroup)
}

extension DaemonState.LeaderDetails: StoredByForm {
  package static let form = Form(
    DaemonState.LeaderDetails.init(
      leader:uid:group:marker:mechanism:isLaunched:launch:isFromWindow:), \.leader, \.uid, \.group,
    \.marker, \.mechanism, \.isLaunched, \.launch, \.isFromWindow)
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
    DaemonState.Connection.init(stream:monitor:isAgent:waiting:input:isUnsaved:), \.stream,
    \.monitor, \.isAgent, \.waiting, \.input, \.isUnsaved)
}

extension DaemonState.Monitor: StoredByForm {
  package static let form = Form(
    DaemonState.Monitor.init(uid:application:), \.uid, \.application)
}

extension DaemonState.Waiting: StoredByForm {
  package static let form = Form(
    DaemonState.Waiting.init(request:method:application:takesMore:isOneway:), \.request, \.method,
    \.application, \.takesMore, \.isOneway)

  /// Writes the fields directly, without ``form``. The daemon writes this value for every call of a
  /// client. The generic code of ``form`` would take a tenth of the time that such a call takes.
  package func write(to writer: inout StoredWriter) {
    request.write(to: &writer)
    method.write(to: &writer)
    application.write(to: &writer)
    takesMore.write(to: &writer)
    isOneway.write(to: &writer)
  }
}

extension LoggedCall: StoredByForm {
  package static let form = Form(
    LoggedCall.init(connection:waiting:), \.connection, \.waiting)

  /// Writes the fields directly, without ``form``, as ``DaemonState/Waiting`` does.
  package func write(to writer: inout StoredWriter) {
    connection.write(to: &writer)
    waiting.write(to: &writer)
  }
}

/// Stored as a count and the bytes.
extension MessagePart: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self.init(Array(try reader.readBytes()))
  }

  package func write(to writer: inout StoredWriter) { writer.write(bytes: bytes) }
}

extension Note: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("leader", Self.leader), Case("stopping", Self.stopping), Case("resumed", Self.resumed),
    Case("forgotten", Self.forgotten), Case("stream", Self.stream), Case("monitor", Self.monitor),
    Case("input", Self.input), Case("inputComplete", Self.inputComplete),
    Case("unsaved", Self.unsaved), Case("lowering", Self.lowering), Case("restored", Self.restored),
    Case("agent", Self.agent),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .leader(let a): writer.write(case: 0, a)
    case .stopping(let a, let b): writer.write(case: 1, a, b)
    case .resumed(let a): writer.write(case: 2, a)
    case .forgotten(let a): writer.write(case: 3, a)
    case .stream(let a, let b): writer.write(case: 4, a, b)
    case .monitor(let a, let b): writer.write(case: 5, a, b)
    case .input(let a, let b): writer.write(case: 6, a, b)
    case .inputComplete(let a): writer.write(case: 7, a)
    case .unsaved(let a, let b): writer.write(case: 8, a, b)
    case .lowering(let a, let b): writer.write(case: 9, a, b)
    case .restored(let a): writer.write(case: 10, a)
    case .agent(let a, let b): writer.write(case: 11, a, b)
    }
  }
}

extension EventLogStart: StoredByForm {
  package static let form = Form(
    EventLogStart.init(writer:eventCount:requestLast:at:effects:effectsDone:), \.writer,
    \.eventCount, \.requestLast, \.at, \.effects, \.effectsDone)
}
