// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Ends the management of a socket. An application that closes a managed socket need not call
  /// this: the daemon does not keep the connection open.
  public enum ReleaseSocket: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ReleaseSocket"

    public struct Input: WireStructure {
      public var socket: Int

      public static let fieldNames = ["socket"]

      public init(socket: Int) {
        self.socket = socket
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        socket = try fields.required("socket")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "socket", socket)
      }
    }

    public typealias Output = NoFields
  }
}
