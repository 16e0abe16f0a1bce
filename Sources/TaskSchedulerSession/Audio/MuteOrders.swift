/// The outstanding orders to mute a stream or to end its mute: no list of streams has confirmed
/// them yet.
///
/// The connection to the audio server may end before the server has carried out an order. The agent
/// therefore keeps each order until a list shows its result. After a new connection, the agent
/// repeats the orders that it has kept. ``VolumeOrders`` does the same for volumes.
struct MuteOrders {
  /// The maximum number of orders to keep. Each daemon reads at most 1024 streams.
  static let max = 4096

  private struct Key: Hashable {
    var generation: UInt64
    var stream: UInt32
  }

  private var orders: [Key: Bool] = [:]

  var isEmpty: Bool { orders.isEmpty }

  /// Adds an order. It replaces the stream's outstanding order.
  mutating func add(_ isMuted: Bool, stream: UInt32, of generation: UInt64) {
    let key = Key(generation: generation, stream: stream)
    if orders[key] != nil || orders.count < Self.max { orders[key] = isMuted }
  }

  /// Removes the orders that a list of all streams confirms, and those for streams that have ended.
  ///
  /// - Parameter muted: Whether each stream of the running server is muted.
  /// - Returns: The other orders.
  mutating func confirm(
    _ muted: [UInt32: Bool], of generation: UInt64
  ) -> [(stream: UInt32, isMuted: Bool)] {
    orders = orders.filter { key, isMuted in
      guard key.generation == generation, let isMutedNow = muted[key.stream] else { return false }
      return isMutedNow != isMuted
    }
    return orders.map { ($0.key.stream, $0.value) }.sorted { $0.0 < $1.0 }
  }
}
