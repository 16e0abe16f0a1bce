/// A file descriptor among the parameters: its index into those that came with the message.
///
/// This is how systemd passes descriptors by Varlink: a field whose name ends in `FileDescriptor`
/// is an int, and the descriptors ride beside the bytes. Reading refuses an index that is out of
/// range or used twice and descriptors that no field claims. The receiver of the message takes
/// those that were claimed by their index and closes the rest.
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
        problem: "the message came with \(claims.count) file descriptors; a field "
          + "names one of them, and no two fields the same")
    }
  }

  public func write(to message: inout [UInt8]) { rawValue.write(to: &message) }
}

/// Which descriptors of one message its fields have claimed.
final class FileDescriptorClaims {
  private var isClaimed: [Bool]

  init(count: Int) {
    isClaimed = Array(repeating: false, count: count)
  }

  var count: Int { isClaimed.count }
  var firstUnclaimed: Int? { isClaimed.firstIndex(of: false) }

  /// False if there is no such descriptor, or it has been claimed before.
  func claim(_ index: Int) -> Bool {
    guard isClaimed.indices.contains(index), !isClaimed[index] else { return false }
    isClaimed[index] = true
    return true
  }

  /// Said of a descriptor that no field names. It has no field, so it gets a name of its own.
  static func unclaimedError(_ index: Int) -> ParameterError {
    ParameterError(
      parameter: "fileDescriptors[\(index)]",
      problem: "no field names one of the message's file descriptors")
  }
}
