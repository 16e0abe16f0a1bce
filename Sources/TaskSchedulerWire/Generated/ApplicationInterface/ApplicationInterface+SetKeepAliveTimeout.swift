// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Sets the interval of the keep-alive handler; null clears it.
  ///
  /// The daemon sends the callback keepAlive at least once in each interval, which counts from the
  /// last keepAlive. It resumes a suspended application for this. The interval is at least
  /// KeepAliveMinimum (600 s by default) and at most 1000000000 s. The application needs the
  /// background mode voip and an event stream.
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
