import Dispatch

/// The callbacks of an application, one after the other. Each is acknowledged when the next is
/// taken, when the iteration ends, or before by its `acknowledge()`.
///
/// To be iterated by one task at a time. It ends when the application is closed, and throws when
/// the daemon refuses the process for good. Callbacks that come when nobody holds this sequence or
/// iterates it any longer, or when its iteration was cancelled, are acknowledged at once.
public struct ApplicationCallbacks: AsyncSequence, Sendable {
  /// What is taken.
  public typealias Element = ApplicationCallback
  /// Why there is nothing more to take.
  public typealias Failure = ApplicationError

  /// Tells the channel when the sequence and its iterators are gone.
  fileprivate final class Lifetime: Sendable {
    let channel: CallbackChannel
    init(_ channel: CallbackChannel) { self.channel = channel }
    deinit { channel.abandon() }
  }

  private let lifetime: Lifetime

  init(_ channel: CallbackChannel) {
    lifetime = Lifetime(channel)
  }

  /// One iteration.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(lifetime: lifetime)
  }

  /// Takes the callbacks.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Holds the callback that was taken last, and acknowledges it when the iteration is over.
    private final class Position: Sendable {
      let taken = Locked<ApplicationCallback?>(nil)

      deinit {
        if let callback = taken.withLock({ $0 }) { acknowledgeElsewhere(callback) }
      }
    }

    private let lifetime: Lifetime
    private let position = Position()

    fileprivate init(lifetime: Lifetime) {
      self.lifetime = lifetime
    }

    /// Acknowledges the callback that was taken last, and waits for the next; nil at the end.
    public mutating func next() async throws(ApplicationError) -> ApplicationCallback? {
      try await next(isolation: nil)
    }

    /// Acknowledges the callback that was taken last, and waits for the next; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ApplicationError) -> ApplicationCallback? {
      if let callback = position.taken.withLock({ taken -> ApplicationCallback? in
        defer { taken = nil }
        return taken
      }) {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async {
            callback.acknowledge()
            continuation.resume()
          }
        }
      }
      let callback = try await lifetime.channel.next().get()
      position.taken.withLock { $0 = callback }
      return callback
    }
  }
}

/// Acknowledging blocks for a round trip.
private func acknowledgeElsewhere(_ callback: ApplicationCallback) {
  DispatchQueue.global().async { callback.acknowledge() }
}

/// Hands callbacks from the reading thread to the task that iterates.
final class CallbackChannel: CallbackSink {
  typealias Item = Result<ApplicationCallback?, ApplicationError>

  private struct State {
    var waiting: [ApplicationCallback] = []
    var taker: CheckedContinuation<Item, Never>?
    /// Nobody takes any more.
    var isAbandoned = false
    /// What follows the last callback.
    var end: Item?
  }

  private let state = Locked(State())

  func deliver(_ callback: ApplicationCallback, to application: ScheduledApplication) {
    let (taker, isAbandoned) = state.withLock { state in
      let taker = state.taker
      state.taker = nil
      if taker == nil && !state.isAbandoned { state.waiting.append(callback) }
      return (taker, state.isAbandoned)
    }
    if let taker {
      taker.resume(returning: .success(callback))
    } else if isAbandoned {
      acknowledgeElsewhere(callback)
    }
  }

  func finish(_ error: ApplicationError?, of application: ScheduledApplication) {
    let end: Item = error.map { .failure($0) } ?? .success(nil)
    let taker = state.withLock { state in
      state.end = end
      defer { state.taker = nil }
      return state.taker
    }
    taker?.resume(returning: end)
  }

  func next() async -> Item {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let item = state.withLock { state -> Item? in
          if !state.waiting.isEmpty { return .success(state.waiting.removeFirst()) }
          if state.isAbandoned { return .success(nil) }
          if let end = state.end { return end }
          precondition(state.taker == nil, "two tasks iterate the callbacks of one application")
          state.taker = continuation
          return nil
        }
        if let item { continuation.resume(returning: item) }
      }
    } onCancel: {
      abandon()
    }
  }

  /// From now on all is acknowledged at once.
  func abandon() {
    let (waiting, taker) = state.withLock { state in
      defer {
        state.waiting = []
        state.taker = nil
        state.isAbandoned = true
      }
      return (state.waiting, state.taker)
    }
    taker?.resume(returning: .success(nil))
    for callback in waiting { acknowledgeElsewhere(callback) }
  }
}
