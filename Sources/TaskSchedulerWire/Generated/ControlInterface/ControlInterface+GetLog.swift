// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Returns the latest log records about the applications that the caller may see, the oldest
  /// first. There are at most 100 records, or `lines` if that is less. With `before`, they precede
  /// the record of this number.
  ///
  /// The call is for users who may not read the journal. The daemon keeps at most 500 records for
  /// each user, from its start on.
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
