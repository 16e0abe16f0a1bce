/// The orders of the daemons to change volumes, until a list of streams confirms each change.
///
/// A change applies only if the volume is the one that the daemon knows, because the user may have
/// chosen another volume. The agent therefore reads the list of streams before it sends a change.
/// But PipeWire lists a change only some milliseconds after the agent sent it. If a daemon lowers a
/// volume and raises it at once, the list still has the original volume, as if the user had chosen
/// this volume. Each order therefore keeps all volumes that the stream can have while its changes
/// are outstanding. The server handles the changes in the order in which the agent sends them, so
/// the last change decides.
struct VolumeOrders {
  /// The maximum number of orders to keep. Each daemon reads at most 1024 streams.
  static let max = 4096

  private struct Key: Hashable {
    var generation: UInt64
    var stream: UInt32
  }

  private struct Order {
    /// The volumes that the stream can have before the change.
    var earlier: [Int]
    var volume: Int
    /// Whether the agent has sent the change on the present connection to the server.
    var isSent = false

    /// The maximum number of volumes in `earlier`.
    static let earlierMax = 4

    /// Returns whether a list in which the stream has the volume `listed` leaves the order
    /// outstanding.
    func isOutstanding(at listed: Int) -> Bool {
      let isEarlier = earlier.contains { AudioVolumeChange.isSame($0, listed) }
      return isSent ? isEarlier && !AudioVolumeChange.isSame(volume, listed) : isEarlier
    }
  }

  private var orders: [Key: Order] = [:]

  var isEmpty: Bool { orders.isEmpty }

  /// Adds a change. If it begins at the final volume of the stream's outstanding change, the two
  /// changes become one order. Otherwise the new change replaces the outstanding one.
  mutating func add(_ change: AudioVolumeChange, of generation: UInt64) {
    let key = Key(generation: generation, stream: change.stream)
    var earlier = [change.from]
    if let order = orders[key] {
      if AudioVolumeChange.isSame(order.volume, change.from) {
        earlier = order.earlier.filter { !AudioVolumeChange.isSame($0, change.from) } + earlier
      }
    } else if orders.count >= Self.max {
      return
    }
    orders[key] = Order(
      earlier: Array(earlier.suffix(Order.earlierMax)), volume: change.to)
  }

  /// Removes the orders that a list of all streams confirms. Also removes the orders for streams
  /// that have ended, or whose volume the user has changed.
  ///
  /// - Parameter volumes: The volume of each playback stream of the running server.
  /// - Returns: The other orders that have not been sent. From now on, they count as sent.
  mutating func take(
    _ volumes: [UInt32: Int], of generation: UInt64
  ) -> [(stream: UInt32, volume: Int)] {
    var unsent: [(stream: UInt32, volume: Int)] = []
    for (key, order) in orders {
      guard key.generation == generation, let listed = volumes[key.stream],
        order.isOutstanding(at: listed)
      else {
        orders[key] = nil
        continue
      }
      if order.isSent { continue }
      orders[key]?.isSent = true
      unsent.append((key.stream, order.volume))
    }
    return unsent.sorted { $0.stream < $1.stream }
  }

  /// Marks all orders as not sent, because the connection to the server has ended.
  mutating func disconnected() {
    for key in orders.keys { orders[key]?.isSent = false }
  }
}
