/// Bytes that are kept for a client, or by how many they change.
package struct KeptBytes: Equatable {
  /// Of a message whose end has not come. The journal has them, too.
  var unfinished = 0
  /// Of answers and events that it has not taken yet.
  var unread = 0

  var count: Int { unfinished + unread }

  static func + (one: KeptBytes, other: KeptBytes) -> KeptBytes {
    KeptBytes(unfinished: one.unfinished + other.unfinished, unread: one.unread + other.unread)
  }

  static func - (one: KeptBytes, other: KeptBytes) -> KeptBytes {
    KeptBytes(unfinished: one.unfinished - other.unfinished, unread: one.unread - other.unread)
  }
}
