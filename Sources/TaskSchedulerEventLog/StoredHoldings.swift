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

extension Note: StoredByForm {
  package static let form = Form(cases: [
    Case("arrival", Note.arrival) { if case .arrival(let a) = $0 { a } else { nil } },
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
