// What is written often, and not as plain bytes (`Compact`), is a list of its fields in their
// order: to find each by its name takes longer, and a new daemon reads them all before it serves.
// Earlier versions named them, and are read all the same.

extension Leader: Codable {
  private enum CodingKeys: CodingKey {
    case pid, startTime
  }

  public init(from decoder: any Decoder) throws {
    if var fields = try? decoder.unkeyedContainer() {
      self.init(pid: try fields.decode(Int32.self), startTime: try fields.decode(UInt64.self))
    } else {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      self.init(
        pid: try fields.decode(Int32.self, forKey: .pid),
        startTime: try fields.decode(UInt64.self, forKey: .startTime))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    try fields.encode(pid)
    try fields.encode(startTime)
  }
}

extension ApplicationKey: Codable {
  private enum CodingKeys: CodingKey {
    case id, owner
  }

  public init(from decoder: any Decoder) throws {
    if var fields = try? decoder.unkeyedContainer() {
      let id = try fields.decode(ApplicationID.self)
      self.init(id, owner: UserID(try fields.decode(UInt32.self)))
    } else {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      let id = try fields.decode(ApplicationID.self, forKey: .id)
      self.init(id, owner: try fields.decode(UserID.self, forKey: .owner))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    try fields.encode(id)
    try fields.encode(owner.uid)
  }
}

extension SeatID: Codable {
  private enum CodingKeys: CodingKey {
    case name
  }

  public init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self.init(name)
    } else {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      self.init(try fields.decode(String.self, forKey: .name))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    try name.encode(to: encoder)
  }
}

extension EndedEntitlement: Codable {
  private enum CodingKeys: CodingKey {
    case kind, at
  }

  private enum Name: String, Codable {
    case task, callback, activity, eventHandled, eventTime, launchTime
  }

  public init(from decoder: any Decoder) throws {
    guard var fields = try? decoder.unkeyedContainer() else {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      kind = try fields.decode(Kind.self, forKey: .kind)
      at = try fields.decode(Instant.self, forKey: .at)
      return
    }
    at = try fields.decode(Instant.self)
    switch try fields.decode(Name.self) {
    case .task:
      let id = try fields.decode(TaskID.self)
      kind = .task(id, name: fields.isAtEnd ? nil : try fields.decode(String.self))
    case .callback: kind = .callback(try fields.decode(CallbackKind.self))
    case .activity: kind = .activity(try fields.decode(Activity.self))
    case .eventHandled: kind = .eventHandled
    case .eventTime: kind = .eventTime
    case .launchTime: kind = .launchTime
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    try fields.encode(at)
    switch kind {
    case .task(let id, let name):
      try fields.encode(Name.task)
      try fields.encode(id)
      if let name { try fields.encode(name) }
    case .callback(let callback):
      try fields.encode(Name.callback)
      try fields.encode(callback)
    case .activity(let activity):
      try fields.encode(Name.activity)
      try fields.encode(activity)
    case .eventHandled: try fields.encode(Name.eventHandled)
    case .eventTime: try fields.encode(Name.eventTime)
    case .launchTime: try fields.encode(Name.launchTime)
    }
  }
}
