/// A call that the owner of the `ServerConnection` must carry out.
public struct ReceivedCall: Hashable, Sendable {
  /// The full name of the method, which one of the service's interfaces declares.
  public let method: String
  /// The parameters, a JSON object.
  public let parameters: JSONValue
  /// Whether the caller accepts several replies.
  public let more: Bool
  /// Whether the caller expects no reply.
  public let oneway: Bool
  /// The number of descriptors that came with the message.
  public let fileDescriptorCount: Int

  init(_ call: Call, fileDescriptorCount: Int) {
    method = call.method
    parameters = call.parameters
    more = call.more
    oneway = call.oneway
    self.fileDescriptorCount = fileDescriptorCount
  }

  /// Decodes the parameters as the method's input.
  ///
  /// Throws `ParameterError` if a field is missing, unknown or of the wrong type, or if the message
  /// came with a descriptor that no field claims. `ServerConnection.fail` sends this error as
  /// `InvalidParameter`. The owner must call this function for every call, even if the input has no
  /// fields.
  public func decode<Value: WireValue>(_ type: Value.Type) throws(ParameterError) -> Value {
    try Value(
      parameters: parameters, fileDescriptorCount: fileDescriptorCount, unknownFields: .refused)
  }
}
