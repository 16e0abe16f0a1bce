// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The newest records of the log about the caller's applications (an operator's: all), the oldest
  /// first, 100 at most, or `lines` where that is less; those before them where `before` is the
  /// number of the first. For callers who may not read the journal: the daemon keeps 500 for each
  /// user, at most, since it was started.
  public enum GetLog: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetLog"

    public struct Input: WireStructure {
      public var application: String?
      public var owner: Int?
      public var before: Int?
      public var lines: Int?

      public static let fieldNames = ["application", "owner", "before", "lines"]

      public init(
        application: String? = nil, owner: Int? = nil, before: Int? = nil, lines: Int? = nil
      ) {
        self.application = application
        self.owner = owner
        self.before = before
        self.lines = lines
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        owner = try fields.optional("owner")
        before = try fields.optional("before")
        lines = try fields.optional("lines")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "before", before)
        object.append(field: "lines", lines)
      }
    }

    public struct Output: WireStructure {
      public var records: [LogRecord]

      public static let fieldNames = ["records"]

      public init(records: [LogRecord]) {
        self.records = records
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        records = try fields.required("records")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "records", records)
      }
    }
  }
}
