// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// The number on an application's icon.
  public struct Badge: WireStructure {
    public var application: String
    /// 0 removes the number.
    public var count: Int

    public static let fieldNames = ["application", "count"]

    public init(application: String, count: Int) {
      self.application = application
      self.count = count
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.required("application")
      count = try fields.required("count")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "count", count)
    }
  }
}
