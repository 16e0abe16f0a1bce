/// A descriptor in the parameters, as an index into the descriptors of the message.
///
/// systemd passes descriptors over Varlink in this way. A field with a name that ends in
/// `FileDescriptor` is an int, and the descriptors are sent with the bytes of the message. Decoding
/// refuses an index that is out of range or used twice, and a descriptor that no field claims. The
/// receiver of the message takes the claimed descriptors by their index, and closes the others.
public struct FileDescriptorIndex: WireValue {
  public let rawValue: Int

  public init(_ rawValue: Int) {
    self.rawValue = rawValue
  }

  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    rawValue = try Int(reading: json, context)
    guard let claims = context.claims else {
      throw ParameterError(
        parameter: "", problem: "the message came without file descriptors")
    }
    guard claims.claim(rawValue) else {
      throw ParameterError(
        parameter: "",
        problem: "the message came with \(claims.count) file descriptors; write the "
          + "index of one of them, and each index only once")
    }
  }

  public func write(to message: inout [UInt8]) { rawValue.write(to: &message) }
}

/// Records which descriptors of a message have been claimed by fields.
final class FileDescriptorClaims {
  private var isClaimed: [Bool]

  init(count: Int) {
    isClaimed = Array(repeating: false, count: count)
  }

  var count: Int { isClaimed.count }
  var firstUnclaimed: Int? { isClaimed.firstIndex(of: false) }

  /// Claims a descriptor. Returns false if there is no such descriptor, or if another field has
  /// claimed it.
  func claim(_ index: Int) -> Bool {
    guard isClaimed.indices.contains(index), !isClaimed[index] else { return false }
    isClaimed[index] = true
    return true
  }

  /// Returns the error about a descriptor that no field claims. Such an error concerns no field, so
  /// it names `fileDescriptors[index]` in place of a field.
  static func unclaimedError(_ index: Int) -> ParameterError {
    ParameterError(
      parameter: "fileDescriptors[\(index)]",
      problem: "the message came with a file descriptor that no field names")
  }
}
