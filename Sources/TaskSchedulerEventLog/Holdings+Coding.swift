import TaskSchedulerCore

// How what is held is written: each process, group and priority of a thousand applications, and
// their connections.

extension Holdings: Codable {
  private enum CodingKeys: CodingKey {
    case instances, connections, arrivals, runningOn
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    arrivals = try values.decode([Leader: Arrival].self, forKey: .arrivals)
    // Earlier versions wrote them as lists.
    if (try? values.nestedUnkeyedContainer(forKey: .instances)) != nil {
      instances = try values.decode([InstanceID: Instance].self, forKey: .instances)
      connections = try values.decode([UInt64: Connection].self, forKey: .connections)
      runningOn = try values.decodeIfPresent([Leader: Instance].self, forKey: .runningOn)
      return
    }
    try values.decode(CompactBytes.self, forKey: .instances).forEach {
      (pair: consuming Pair<InstanceID, Instance>, _) in instances[pair.key] = pair.value
    }
    try values.decode(CompactBytes.self, forKey: .connections).forEach {
      (pair: consuming Pair<UInt64, Connection>, _) in connections[pair.key] = pair.value
    }
    if let bytes = try values.decodeIfPresent(CompactBytes.self, forKey: .runningOn) {
      var running: [Leader: Instance] = [:]
      try bytes.forEach {
        (pair: consuming Pair<Leader, Instance>, _) in running[pair.key] = pair.value
      }
      runningOn = running
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(arrivals, forKey: .arrivals)
    let running = runningOn?.map { Pair(key: $0, value: $1) }
    try values.encodeIfPresent(running.map { CompactBytes($0) }, forKey: .runningOn)
    let held = instances.map { Pair(key: $0, value: $1) }
    try values.encode(CompactBytes(held), forKey: .instances)
    let open = connections.map { Pair(key: $0, value: $1) }
    try values.encode(CompactBytes(open), forKey: .connections)
  }
}

// MARK: As plain bytes

private struct Pair<Key: Compact, Value: Compact>: Compact {
  let key: Key
  let value: Value

  init(key: Key, value: Value) {
    self.key = key
    self.value = value
  }

  init(from reader: inout CompactReader) throws(MalformedBytes) {
    key = try reader.read()
    value = try reader.read()
  }

  func write(to writer: inout CompactWriter) {
    key.write(to: &writer)
    value.write(to: &writer)
  }
}

extension Holdings.Instance: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    application = try reader.read()
    arrival = try reader.read()
    stopped = try reader.read()
    release = try reader.read()
    lowered = try reader.read()
    leadsSession = try reader.read()
    leadsGroup = try reader.read()
  }

  package func write(to writer: inout CompactWriter) {
    application.write(to: &writer)
    arrival.write(to: &writer)
    stopped.write(to: &writer)
    release.write(to: &writer)
    lowered.write(to: &writer)
    leadsSession.write(to: &writer)
    leadsGroup.write(to: &writer)
  }
}

extension Holdings.Arrival: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    leader = try reader.read()
    uid = try reader.read()
    group = try reader.read()
    marker = try reader.read()
    mechanism = try reader.read()
    isLaunched = try reader.read()
    launch = try reader.read()
  }

  package func write(to writer: inout CompactWriter) {
    leader.write(to: &writer)
    uid.write(to: &writer)
    group.write(to: &writer)
    marker.write(to: &writer)
    mechanism.write(to: &writer)
    isLaunched.write(to: &writer)
    launch.write(to: &writer)
  }
}

extension Holdings.Stopped: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    process = try reader.read()
    wasStopped = try reader.read()
  }

  package func write(to writer: inout CompactWriter) {
    process.write(to: &writer)
    wasStopped.write(to: &writer)
  }
}

extension Holdings.Lowered: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    thread = try reader.read()
    process = try reader.read()
    group = try reader.read()
    lever = try reader.read()
    before = try reader.read()
    after = try reader.read()
  }

  package func write(to writer: inout CompactWriter) {
    thread.write(to: &writer)
    process.write(to: &writer)
    group.write(to: &writer)
    lever.write(to: &writer)
    before.write(to: &writer)
    after.write(to: &writer)
  }
}

extension Holdings.Release: Compact {}

extension Holdings.Connection: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    stream = try reader.read()
    monitor = try reader.read()
    waiting = try reader.read()
    input = try reader.read()
    isUnsaved = try reader.read()
  }

  package func write(to writer: inout CompactWriter) {
    stream.write(to: &writer)
    monitor.write(to: &writer)
    waiting.write(to: &writer)
    input.write(to: &writer)
    isUnsaved.write(to: &writer)
  }
}

extension Holdings.Monitor: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    uid = try reader.read()
    application = try reader.read()
  }

  package func write(to writer: inout CompactWriter) {
    uid.write(to: &writer)
    application.write(to: &writer)
  }
}

extension Holdings.Waiting: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    request = try reader.read()
    method = try reader.read()
    application = try reader.read()
    isOneway = try reader.read()
  }

  package func write(to writer: inout CompactWriter) {
    request.write(to: &writer)
    method.write(to: &writer)
    application.write(to: &writer)
    isOneway.write(to: &writer)
  }
}

extension MessagePart: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    bytes = Array(try reader.readBytes())
  }

  package func write(to writer: inout CompactWriter) { writer.write(bytes: bytes) }
}

// MARK: In notes

/// There may be tens of thousands, so it is a list of its fields; earlier versions named them.
extension Holdings.Lowered: Codable {
  private enum CodingKeys: CodingKey {
    case thread, process, group, lever, before, after
  }

  public init(from decoder: any Decoder) throws {
    if var fields = try? decoder.unkeyedContainer() {
      let id = try fields.decode(Int32.self)
      thread = Leader(pid: id, startTime: try fields.decode(UInt64.self))
      process = try fields.decode(Int32.self)
      lever = try fields.decode(String.self)
      before = try fields.decode(Int.self)
      after = try fields.decode(Int.self)
      group = fields.isAtEnd ? nil : try fields.decode(String.self)
    } else {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      thread = try fields.decode(Leader.self, forKey: .thread)
      process = try fields.decode(Int32.self, forKey: .process)
      group = try fields.decodeIfPresent(String.self, forKey: .group)
      lever = try fields.decode(String.self, forKey: .lever)
      before = try fields.decode(Int.self, forKey: .before)
      after = try fields.decode(Int.self, forKey: .after)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    try fields.encode(thread.pid)
    try fields.encode(thread.startTime)
    try fields.encode(process)
    try fields.encode(lever)
    try fields.encode(before)
    try fields.encode(after)
    if let group { try fields.encode(group) }
  }
}
