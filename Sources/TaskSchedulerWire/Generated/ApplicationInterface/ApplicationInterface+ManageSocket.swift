// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Hands a connected stream socket over. While the application is suspended, the daemon watches
  /// it, without reading a byte: what arrives resumes the application, which hears of it by a
  /// socketEvent. Its number is its cookie (SO_COOKIE), and so the same if it is handed over again.
  /// Needs the mode voip.
  public enum ManageSocket: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ManageSocket"

    public struct Input: WireStructure {
      public var socketFileDescriptor: FileDescriptorIndex

      public static let fieldNames = ["socketFileDescriptor"]

      public init(socketFileDescriptor: FileDescriptorIndex) {
        self.socketFileDescriptor = socketFileDescriptor
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        socketFileDescriptor = try fields.required("socketFileDescriptor")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "socketFileDescriptor", socketFileDescriptor)
      }
    }

    public struct Output: WireStructure {
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
  }
}
