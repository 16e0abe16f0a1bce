/// What is kept for a client, or by how much it changes.
package struct Kept: Equatable {
  /// Bytes of a message whose end has not come. The event log has them, too.
  var unfinished = 0
  /// Bytes of answers and events that it has not taken yet.
  var unread = 0
  /// Descriptors that came with a message whose end has not come.
  var descriptors = 0

  var bytes: Int { unfinished + unread }

  static func + (one: Kept, other: Kept) -> Kept {
    Kept(
      unfinished: one.unfinished + other.unfinished, unread: one.unread + other.unread,
      descriptors: one.descriptors + other.descriptors)
  }

  static func - (one: Kept, other: Kept) -> Kept {
    Kept(
      unfinished: one.unfinished - other.unfinished, unread: one.unread - other.unread,
      descriptors: one.descriptors - other.descriptors)
  }
}
