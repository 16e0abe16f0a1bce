// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Acknowledges the last callback, or a socket event.
  ///
  /// The daemon may suspend the caller after didEnterBackground, keepAlive or a socket event, if
  /// nothing else entitles the application to run. It sends the reply before it suspends the
  /// application. The caller may read the reply only after the application is resumed.
  public enum Acknowledge: InterfaceMethod {
    public static let name = "org.taskschedd.Application.Acknowledge"

    public struct Input: WireStructure {
      public var callback: Int

      public static let fieldNames = ["callback"]

      public init(callback: Int) {
        self.callback = callback
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        callback = try fields.required("callback")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "callback", callback)
      }
    }

    public typealias Output = NoFields
  }
}
