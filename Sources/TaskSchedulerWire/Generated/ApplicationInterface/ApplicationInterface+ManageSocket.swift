// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Makes a connected stream socket a managed socket. While the application is suspended, the
  /// daemon monitors the socket and does not read from it. When data arrives, the daemon resumes
  /// the application and sends a socketEvent.
  ///
  /// `socket` is the cookie of the socket (SO_COOKIE). It stays the same if the application calls
  /// ManageSocket for the socket again. The application needs the background mode voip.
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
