import TaskSchedulerCore

// The stored forms of holdings and notes.

extension Holdings: StoredByForm {
  package static let form = Form(
    derived: {
      var holdings = Holdings()
      holdings.instances = $0
      holdings.connections = $1
      for arrival in $2 as [Arrival] { holdings.arrivals[arrival.leader] = arrival }
      for instance in $3 as [Instance] { holdings.leftRunning[instance.arrival.leader] = instance }
      return holdings
    }, \.instances, \.connections,
    { @Sendable in $0.arrivals.values.sorted { $0.leader < $1.leader } },
    { @Sendable in $0.leftRunning.values.sorted { $0.arrival.leader < $1.arrival.leader } })
}

extension Holdings.Instance: StoredByForm {
  package static let form = Form(
    Holdings.Instance.init(
      application:arrival:stopped:release:lowered:leadsSession:leadsGroup:), \.application,
    \.arrival, \.stopped, \.release, \.lowered, \.leadsSession, \.leadsGroup)
}

extension Holdings.Arrival: StoredByForm {
  package static let form = Form(
    Holdings.Arrival.init(leader:uid:group:marker:mechanism:isLaunched:launch:), \.leader, \.uid,
    \.group, \.marker, \.mechanism, \.isLaunched, \.launch)
}

extension Holdings.Stopped: StoredByForm {
  package static let form = Form(
    Holdings.Stopped.init(process:wasStopped:), \.process, \.wasStopped)
}

extension Holdings.Lowered: StoredByForm {
  package static let form = Form(
    Holdings.Lowered.init(thread:process:group:lever:before:after:), \.thread, \.process, \.group,
    \.lever, \.before, \.after)
}

extension Holdings.Release: Stored {}

extension Holdings.Connection: StoredByForm {
  package static let form = Form(
    Holdings.Connection.init(stream:monitor:waiting:input:isUnsaved:), \.stream, \.monitor,
    \.waiting, \.input, \.isUnsaved)
}

extension Holdings.Monitor: StoredByForm {
  package static let form = Form(
    Holdings.Monitor.init(uid:application:), \.uid, \.application)
}

extension Holdings.Waiting: StoredByForm {
  package static let form = Form(
    Holdings.Waiting.init(request:method:application:takesMore:isOneway:), \.request, \.method,
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

extension Note: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("arrival", Self.arrival), Case("stopping", Self.stopping), Case("resumed", Self.resumed),
    Case("forgotten", Self.forgotten), Case("stream", Self.stream), Case("monitor", Self.monitor),
    Case("input", Self.input), Case("inputComplete", Self.inputComplete),
    Case("unsaved", Self.unsaved), Case("lowering", Self.lowering), Case("restored", Self.restored),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .arrival(let a): writer.write(case: 0, a)
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
    }
  }
}

extension EventLogStart: StoredByForm {
  package static let form = Form(
    EventLogStart.init(writer:eventCount:requestLast:at:effects:effectsDone:), \.writer,
    \.eventCount, \.requestLast, \.at, \.effects, \.effectsDone)
}
