// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The conditions of a managed socket.
  public struct SocketReadiness: WireStructure {
    public var socket: Int
    /// Data can be read.
    public var data: Bool
    /// Urgent (out-of-band) data can be read.
    public var urgentData: Bool
    /// The peer has closed the connection or its sending direction.
    public var hangUp: Bool
    public var error: Bool
    /// The daemon cannot monitor the socket any more. To make the daemon try again, call
    /// ManageSocket.
    public var unwatched: Bool

    public static let fieldNames = ["socket", "data", "urgentData", "hangUp", "error", "unwatched"]

    public init(
      socket: Int, data: Bool, urgentData: Bool, hangUp: Bool, error: Bool, unwatched: Bool
    ) {
      self.socket = socket
      self.data = data
      self.urgentData = urgentData
      self.hangUp = hangUp
      self.error = error
      self.unwatched = unwatched
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      socket = try fields.required("socket")
      data = try fields.required("data")
      urgentData = try fields.required("urgentData")
      hangUp = try fields.required("hangUp")
      error = try fields.required("error")
      unwatched = try fields.required("unwatched")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "socket", socket)
      object.append(field: "data", data)
      object.append(field: "urgentData", urgentData)
      object.append(field: "hangUp", hangUp)
      object.append(field: "error", error)
      object.append(field: "unwatched", unwatched)
    }
  }
}
