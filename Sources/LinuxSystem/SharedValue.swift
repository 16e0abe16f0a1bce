import Glibc

/// A value that threads share. One thread changes it, and another waits for a change.
public final class SharedValue<State>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  // Every function that accesses the state holds the mutex, so the class is Sendable.
  private var state: State

  public init(_ state: sending State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    let codes = (pthread_mutex_init(mutex, nil), pthread_cond_init(changed, nil))
    precondition(codes == (0, 0), "a default mutex or condition variable could not be created")
  }

  deinit {
    pthread_cond_destroy(changed)
    changed.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Changes the value and wakes the waiting threads.
  public func change<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    pthread_cond_broadcast(changed)
    return body(&state)
  }

  /// Calls the body now and after each change, until the body returns a value. Returns that value.
  public func wait<Result>(until body: (inout State) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      pthread_cond_wait(changed, mutex)
    }
  }
}

/// A value that another thread computes.
public final class Future<Value: Sendable>: Sendable {
  private let shared = SharedValue<Value?>(nil)

  /// Starts the computation. If the system cannot create a thread, computes the value at once.
  public init(_ work: @escaping @Sendable () -> Value) {
    do throws(SystemError) {
      try DetachedThread.start { [shared] in
        let value = work()
        shared.change { $0 = value }
      }
    } catch {
      let value = work()
      shared.change { $0 = value }
    }
  }

  /// The value. Reading the property waits until the value is computed.
  public var value: Value { shared.wait { $0 } }
}
