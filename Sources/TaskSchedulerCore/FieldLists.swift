// What events and notes have often is written as a list of its fields, in their order: to find each
// by its name takes longer, and a new daemon reads them all before it serves. Earlier versions
// named them, and are read all the same.

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
