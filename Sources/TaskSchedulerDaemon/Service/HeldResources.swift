import LinuxSystem

/// The numbers of bytes and descriptors that the daemon holds for one or more connections, or a
/// change of these numbers.
package struct HeldResources: Equatable {
  /// The bytes of an unfinished message. The event log also contains them.
  var unfinished = 0
  /// The bytes of answers and events that the client has not read.
  var unread = 0
  /// The descriptors that came with an unfinished message, or that the daemon has not sent yet.
  var descriptors = 0

  var bytes: Int { unfinished + unread }

  static func + (one: HeldResources, other: HeldResources) -> HeldResources {
    HeldResources(
      unfinished: one.unfinished + other.unfinished, unread: one.unread + other.unread,
      descriptors: one.descriptors + other.descriptors)
  }

  static func - (one: HeldResources, other: HeldResources) -> HeldResources {
    HeldResources(
      unfinished: one.unfinished - other.unfinished, unread: one.unread - other.unread,
      descriptors: one.descriptors - other.descriptors)
  }
}

/// A descriptor that the daemon sends with an answer. It is open until the answer is sent.
final class OutgoingDescriptor {
  private let descriptor: FileDescriptor

  init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  var rawValue: Int32 { descriptor.rawValue }
}
