/// The events that the application handles or has handled, as a value that does no I/O.
///
/// The daemon delivers an event again if it did not receive the acknowledgement.
struct HandledEvents: Sendable {
  enum Action: Hashable {
    case deliver
    /// The application has handled the event.
    case acknowledge
    /// The application is handling the event.
    case none
  }

  /// The maximum number of handled events to remember.
  private static let handledMax = 16

  /// The events that the application is handling.
  private var handling: Set<Int> = []
  /// The events that the application handled last, the newest at the end.
  private var handledLast: [Int] = []

  /// Returns what the library must do with an event that the daemon delivers.
  func action(for event: Int) -> Action {
    if handling.contains(event) { return .none }
    return handledLast.contains(event) ? .acknowledge : .deliver
  }

  mutating func begin(_ event: Int) { handling.insert(event) }

  /// Records that the application has handled an event.
  mutating func handled(_ event: Int) {
    guard handling.remove(event) != nil else { return }
    handledLast.append(event)
    if handledLast.count > Self.handledMax { handledLast.removeFirst() }
  }
}
