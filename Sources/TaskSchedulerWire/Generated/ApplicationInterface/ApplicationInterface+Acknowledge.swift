// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Acknowledges the callback that was delivered last, or a socket event: it is handled.
  ///
  /// It may suspend its caller, where nothing entitles the application to run any longer: after
  /// didEnterBackground, keepAlive or a socket event. The reply is sent before the suspension
  /// begins; the caller may come to read it only after the application is resumed.
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
