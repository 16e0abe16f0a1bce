// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A background task that has begun and has not ended.
  public struct BackgroundTask: WireStructure {
    /// Unique within the instance; never 0.
    public var id: Int
    public var name: String?
    public var beganAtUSec: Int
    /// True if the task has expired in the current stay in the background; false in the foreground.
    public var expired: Bool

    public static let fieldNames = ["id", "name", "beganAtUSec", "expired"]

    public init(id: Int, name: String? = nil, beganAtUSec: Int, expired: Bool) {
      self.id = id
      self.name = name
      self.beganAtUSec = beganAtUSec
      self.expired = expired
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      name = try fields.optional("name")
      beganAtUSec = try fields.required("beganAtUSec")
      expired = try fields.required("expired")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "name", name)
      object.append(field: "beganAtUSec", beganAtUSec)
      object.append(field: "expired", expired)
    }
  }
}
