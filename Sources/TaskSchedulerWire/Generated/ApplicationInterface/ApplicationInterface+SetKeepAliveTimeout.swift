// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Sets the keep-alive handler: a callback of kind keepAlive comes at least once before each
  /// interval ends, counted from the last; also out of suspension. At least KeepAliveMinimum (600 s
  /// by default). At most 1000000000 s. null clears it. Needs the mode voip, and the event stream.
  public enum SetKeepAliveTimeout: InterfaceMethod {
    public static let name = "org.taskschedd.Application.SetKeepAliveTimeout"

    public struct Input: WireStructure {
      public var seconds: Double?

      public static let fieldNames = ["seconds"]

      public init(seconds: Double? = nil) {
        self.seconds = seconds
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        seconds = try fields.optional("seconds")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "seconds", seconds)
      }
    }

    public typealias Output = NoFields
  }
}
