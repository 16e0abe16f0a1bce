import Glibc

/// The file descriptors of a message. When the bag is destroyed or emptied, it closes the unclaimed
/// descriptors. An empty bag does not allocate memory.
public struct DescriptorBag: ~Copyable, Sendable {
  private var numbers: [Int32] = []

  /// The maximum number of file descriptors of a message.
  var messageMax: Int { Int(storedMax) }
  /// Stored in one byte to save memory, because each connection of the daemon has a bag.
  private let storedMax: UInt8
  private let closesElsewhere: Bool

  /// - Parameters:
  ///   - messageMax: the maximum number of file descriptors of a message, at most
  ///     `UnixSocket.descriptorsMax`. If a message has more, the receiver closes all descriptors of
  ///     the message and throws `descriptorsLost`.
  ///   - closesElsewhere: whether to close all descriptors, including claimed ones, on another
  ///     thread (see `FileDescriptor`). Use this for messages of untrusted clients.
  public init(messageMax: Int = UnixSocket.descriptorsMax, closesElsewhere: Bool = false) {
    precondition((0...UnixSocket.descriptorsMax).contains(messageMax))
    storedMax = UInt8(messageMax)
    self.closesElsewhere = closesElsewhere
  }

  deinit { closeAll() }

  private func closeAll() {
    for number in numbers where number >= 0 {
      FileDescriptor(taking: number, closesElsewhere: closesElsewhere).close()
    }
  }

  /// The number of file descriptors, including claimed ones. A message refers to a descriptor by an
  /// index below this number.
  public var count: Int { numbers.count }

  /// Claims the descriptor at this index. Returns nil if there is no such descriptor or it was
  /// already claimed.
  public mutating func take(_ index: Int) -> FileDescriptor? {
    guard numbers.indices.contains(index), numbers[index] >= 0 else { return nil }
    let number = numbers[index]
    numbers[index] = -1
    return FileDescriptor(taking: number, closesElsewhere: closesElsewhere)
  }

  /// Returns the descriptor at this index, which the bag continues to own. Returns nil if there is
  /// no such descriptor or it was claimed.
  public func peek(_ index: Int) -> Int32? {
    guard numbers.indices.contains(index), numbers[index] >= 0 else { return nil }
    return numbers[index]
  }

  /// Closes the unclaimed descriptors, and empties the bag.
  public mutating func removeAll() {
    closeAll()
    numbers.removeAll(keepingCapacity: true)
  }

  mutating func append(taking arrived: UnsafeBufferPointer<Int32>) {
    numbers.append(contentsOf: arrived)
  }
}
