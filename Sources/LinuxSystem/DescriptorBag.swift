import Glibc

/// File descriptors that arrived with a message. What nobody claims is closed when the bag ends or
/// is emptied. An empty bag allocates nothing.
public struct DescriptorBag: ~Copyable, Sendable {
  private var numbers: [Int32] = []

  /// The most that one message may bring.
  let messageMax: Int
  private let closesElsewhere: Bool

  /// - Parameters:
  ///   - messageMax: how many file descriptors one message may bring, at most
  ///     `UnixSocket.descriptorsMax`. A message with more loses them all (`descriptorsLost`).
  ///   - closesElsewhere: for messages from whom we do not trust: all of them are closed, also once
  ///     they are claimed, as `FileDescriptor` does it then.
  public init(messageMax: Int = UnixSocket.descriptorsMax, closesElsewhere: Bool = false) {
    precondition((0...UnixSocket.descriptorsMax).contains(messageMax))
    self.messageMax = messageMax
    self.closesElsewhere = closesElsewhere
  }

  deinit { closeAll() }

  private func closeAll() {
    for number in numbers where number >= 0 {
      FileDescriptor(taking: number, closesElsewhere: closesElsewhere).close()
    }
  }

  /// How many arrived, claimed ones included: the indices of the message count from 0 to here.
  public var count: Int { numbers.count }

  /// Claims the one at this index; nil where there is none or it was claimed before.
  public mutating func take(_ index: Int) -> FileDescriptor? {
    guard numbers.indices.contains(index), numbers[index] >= 0 else { return nil }
    let number = numbers[index]
    numbers[index] = -1
    return FileDescriptor(taking: number, closesElsewhere: closesElsewhere)
  }

  /// The number at this index, still owned by the bag.
  public func peek(_ index: Int) -> Int32? {
    guard numbers.indices.contains(index), numbers[index] >= 0 else { return nil }
    return numbers[index]
  }

  /// Closes what was not claimed and forgets the rest.
  public mutating func removeAll() {
    closeAll()
    numbers.removeAll(keepingCapacity: true)
  }

  mutating func append(taking arrived: UnsafeBufferPointer<Int32>) {
    numbers.append(contentsOf: arrived)
  }
}
