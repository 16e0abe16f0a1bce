import Dispatch

/// The events of an application without a delegate.
///
///     for try await event in application.events {
///       switch event {
///       case .didEnterBackground: save()
///       ...
///       }
///     }
///
/// The loop acknowledges an event when it takes the next one. The sequence keeps all events until
/// the first loop begins. Only one task at a time may iterate. When a loop ends or its task is
/// cancelled, the library acknowledges later events at once, until another loop begins.
///
/// The sequence ends after ``ScheduledApplication/close()``. It throws if the daemon
/// permanently refuses the process.
public struct ApplicationEvents: AsyncSequence, Sendable {
  /// The type of an event.
  public typealias Element = ApplicationEvent
  /// The error that ends the sequence.
  public typealias Failure = ApplicationError

  private let channel: EventChannel

  init(_ channel: EventChannel) {
    self.channel = channel
  }

  /// Begins an iteration.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(channel)
  }

  /// An iteration over the events of an application.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// One iteration, which an iterator shares with its copies. The iteration ends when the
    /// iterator and all its copies have been destroyed.
    private final class Iteration: Sendable {
      let channel: EventChannel
      let id: Int
      /// The event that the loop received last.
      let taken = Locked<Delivery?>(nil)

      init(_ channel: EventChannel) {
        self.channel = channel
        id = channel.begin()
      }

      deinit {
        if let delivery = taken.withLock({ $0 }) { acknowledgeElsewhere(delivery) }
        channel.end(id)
      }
    }

    private let iteration: Iteration

    init(_ channel: EventChannel) {
      iteration = Iteration(channel)
    }

    /// Acknowledges the previous event, and returns the next event; nil at the end.
    ///
    /// - Throws: The reason why the daemon permanently refuses the process.
    public mutating func next() async throws(ApplicationError) -> ApplicationEvent? {
      try await next(isolation: nil)
    }

    /// Acknowledges the previous event, and returns the next event; nil at the end.
    ///
    /// - Throws: The reason why the daemon permanently refuses the process.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ApplicationError) -> ApplicationEvent? {
      let last = iteration.taken.withLock { taken in
        defer { taken = nil }
        return taken
      }
      if let last {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async {
            last.acknowledge()
            continuation.resume()
          }
        }
      }
      let delivery = try await iteration.channel.next(iteration.id).get()
      iteration.taken.withLock { $0 = delivery }
      return delivery?.event
    }
  }
}

/// Acknowledges an event on another thread, because the acknowledgement blocks until the daemon
/// replies.
private func acknowledgeElsewhere(_ delivery: Delivery) {
  DispatchQueue.global().async { delivery.acknowledge() }
}

/// Passes events from the thread that reads the stream to the task that iterates.
final class EventChannel: EventSink {
  typealias Item = Result<Delivery?, ApplicationError>

  private struct State {
    var waiting: [Delivery] = []
    /// The iterations that have begun and not ended.
    var iterations: Set<Int> = []
    var iterationLast = 0
    /// The iteration that waits for an event.
    var taker: (iteration: Int, continuation: CheckedContinuation<Item, Never>)?
    /// The end of the sequence, or the error that ends it; nil while more events may arrive.
    var end: Item?

    /// Whether the channel keeps new events for a loop. True while a loop runs, and before the
    /// first loop begins.
    var holds: Bool { iterationLast == 0 || !iterations.isEmpty }
  }

  private let state = Locked(State())

  func deliver(_ delivery: Delivery, to application: ScheduledApplication) {
    let (taker, isHeld) = state.withLock { state in
      let taker = state.taker
      state.taker = nil
      let isHeld = taker == nil && state.holds
      if isHeld { state.waiting.append(delivery) }
      return (taker, isHeld)
    }
    if let taker {
      taker.continuation.resume(returning: .success(delivery))
    } else if !isHeld {
      acknowledgeElsewhere(delivery)
    }
  }

  func finish(_ error: ApplicationError?, of application: ScheduledApplication) {
    let end: Item = error.map { .failure($0) } ?? .success(nil)
    let taker = state.withLock { state in
      state.end = end
      defer { state.taker = nil }
      return state.taker
    }
    taker?.continuation.resume(returning: end)
  }

  /// Begins an iteration and returns its number.
  func begin() -> Int {
    state.withLock { state in
      state.iterationLast += 1
      state.iterations.insert(state.iterationLast)
      return state.iterationLast
    }
  }

  func next(_ iteration: Int) async -> Item {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let item = state.withLock { state -> Item? in
          guard state.iterations.contains(iteration) else { return .success(nil) }
          if !state.waiting.isEmpty { return .success(state.waiting.removeFirst()) }
          if let end = state.end { return end }
          precondition(
            state.taker == nil,
            "two tasks iterate the events of one application; only one may iterate at a time")
          state.taker = (iteration, continuation)
          return nil
        }
        if let item { continuation.resume(returning: item) }
      }
    } onCancel: {
      end(iteration)
    }
  }

  /// Ends an iteration. A second call does nothing. If no iteration remains, acknowledges the
  /// waiting events.
  func end(_ iteration: Int) {
    let (unheld, taker) = state.withLock { state in
      state.iterations.remove(iteration)
      let taker = state.taker
      if taker?.iteration == iteration { state.taker = nil }
      let unheld = state.holds ? [] : state.waiting
      if !state.holds { state.waiting = [] }
      return (unheld, taker?.iteration == iteration ? taker : nil)
    }
    taker?.continuation.resume(returning: .success(nil))
    for delivery in unheld { acknowledgeElsewhere(delivery) }
  }
}
