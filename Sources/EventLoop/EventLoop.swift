import CSystemd
import Glibc
import LinuxSystem

/// sd-event on one thread: descriptors, one-shot timers, signals, deferred work and connections to
/// message buses.
///
/// In this module, C calls Swift only in this file. libsystemd holds a reference to the handler of
/// each source until it destroys the source, so the handler exists at every call.
package final class EventLoop {
  private let event: OpaquePointer

  package init() throws(SystemError) {
    var event: OpaquePointer?
    try check("sd_event_new", sd_event_new(&event))
    guard let event else { throw SystemError(call: "sd_event_new", errno: ENOMEM) }
    self.event = event
  }

  deinit {
    sd_event_unref(event)
  }

  /// A descriptor that is readable while an event is pending.
  package var descriptor: Int32 { sd_event_get_fd(event) }

  /// Runs until ``exit()`` is called.
  package func run() throws(SystemError) {
    try check("sd_event_loop", sd_event_loop(event))
  }

  /// Waits at most `limit` for an event, and handles the event.
  package func turn(within limit: Duration) throws(SystemError) {
    try check("sd_event_run", sd_event_run(event, UInt64(max(0, limit.microseconds))))
  }

  package func exit() {
    sd_event_exit(event, 0)
  }

  /// Makes the loop answer systemd's watchdog regularly, if the watchdog is enabled
  /// (WATCHDOG_USEC).
  package func enableWatchdog() throws(SystemError) {
    try check("sd_event_set_watchdog", sd_event_set_watchdog(event, 1))
  }

  /// Calls `handler` whenever a descriptor is ready in one of the given ways, until the returned
  /// source is released.
  package func watch(
    _ descriptor: Int32, for readiness: PollEvents, _ handler: @escaping (PollEvents) -> Void
  ) throws(SystemError) -> DescriptorSource {
    let box = Unmanaged.passRetained(Handler(handler))
    var source: OpaquePointer?
    let result = sd_event_add_io(
      event, &source, descriptor, readiness.rawValue,
      { _, _, events, userdata in EventLoop.call(userdata, events) }, box.toOpaque())
    return DescriptorSource(try adopt(source, result, box, call: "sd_event_add_io"))
  }

  /// Returns a disabled timer, which calls `handler` once each time that it expires.
  ///
  /// - Parameter clock: CLOCK_BOOTTIME, or CLOCK_BOOTTIME_ALARM, which wakes a sleeping machine.
  /// - Throws: EPERM without permission for CLOCK_BOOTTIME_ALARM (CAP_WAKE_ALARM), EOPNOTSUPP if
  ///   the machine has no alarm clock.
  package func timer(
    _ clock: clockid_t = CLOCK_BOOTTIME, _ handler: @escaping () -> Void
  ) throws(SystemError) -> TimerSource {
    let box = Unmanaged.passRetained(Handler { _ in handler() })
    var source: OpaquePointer?
    // The accuracy is 1 µs, because the default of 250 ms would delay every limit.
    let result = sd_event_add_time(
      event, &source, clock, UInt64.max, 1,
      { _, _, userdata in EventLoop.call(userdata, 0) }, box.toOpaque())
    let timer = TimerSource(try adopt(source, result, box, call: "sd_event_add_time"))
    timer.clear()
    return timer
  }

  /// Calls `handler` for a signal instead of its default action. The signal must be blocked.
  package func watch(
    signal: Int32, _ handler: @escaping () -> Void
  ) throws(SystemError) -> Source {
    let box = Unmanaged.passRetained(Handler { _ in handler() })
    var source: OpaquePointer?
    let result = sd_event_add_signal(
      event, &source, signal, { _, _, userdata in EventLoop.call(userdata, 0) }, box.toOpaque())
    return Source(try adopt(source, result, box, call: "sd_event_add_signal"))
  }

  /// Returns a source that calls `handler` once after each ``DeferredSource/request()``, when no
  /// other source is ready.
  package func whenIdle(_ handler: @escaping () -> Void) throws(SystemError) -> DeferredSource {
    let idle = try soon(handler)
    idle.setIdlePriority()
    return idle
  }

  /// Returns a source that calls `handler` once after each ``DeferredSource/request()``, before any
  /// other source of normal priority that is ready. Use it for work that must wait until the
  /// current call has returned. A handler that requests its own source would starve all other
  /// sources.
  package func soon(_ handler: @escaping () -> Void) throws(SystemError) -> DeferredSource {
    let box = Unmanaged.passRetained(Handler { _ in handler() })
    var source: OpaquePointer?
    let result = sd_event_add_defer(
      event, &source, { _, userdata in EventLoop.call(userdata, 0) }, box.toOpaque())
    let deferred = DeferredSource(try adopt(source, result, box, call: "sd_event_add_defer"))
    deferred.clear()
    return deferred
  }

  /// Attaches an sd-bus connection to the loop, which serves the connection until it is closed.
  package func serve(_ bus: OpaquePointer) throws(SystemError) {
    try check("sd_bus_attach_event", sd_bus_attach_event(bus, event, 0))
  }

  /// Sends a method call. `handler` receives the reply or an error once, even if the connection is
  /// lost or the timeout expires. Releasing the slot cancels the call.
  package func call(
    _ message: OpaquePointer, on bus: OpaquePointer, timeout: Duration,
    _ handler: @escaping (OpaquePointer) -> Void
  ) throws(SystemError) -> BusSlot {
    let box = Unmanaged.passRetained(BusHandler(takes: false, handler))
    var slot: OpaquePointer?
    let result = sd_bus_call_async(
      bus, &slot, message, { message, userdata, _ in EventLoop.handle(message, userdata) },
      box.toOpaque(), UInt64(max(0, timeout.microseconds)))
    return try adopt(slot, result, box, call: "sd_bus_call_async")
  }

  /// Passes every message that arrives to `handler`, for the lifetime of the slot.
  ///
  /// - Parameter takesAll: Whether only `handler` handles the messages. Otherwise, sd-bus handles
  ///   them too: it replies with an error to a call for an object that does not exist.
  package func listen(
    on bus: OpaquePointer, takesAll: Bool = false, _ handler: @escaping (OpaquePointer) -> Void
  ) throws(SystemError) -> BusSlot {
    let box = Unmanaged.passRetained(BusHandler(takes: takesAll, handler))
    var slot: OpaquePointer?
    let result = sd_bus_add_filter(
      bus, &slot, { message, userdata, _ in EventLoop.handle(message, userdata) }, box.toOpaque())
    return try adopt(slot, result, box, call: "sd_bus_add_filter")
  }

  /// Passes each method call for the object at `path` to `handler`, and sends the reply that
  /// `handler` returns, for the lifetime of the slot.
  package func serve(
    path: String, on bus: OpaquePointer, _ handler: @escaping (OpaquePointer) -> BusReply
  ) throws(SystemError) -> BusSlot {
    let box = Unmanaged.passRetained(BusHandler { handler($0).send(to: $0) })
    var slot: OpaquePointer?
    let result = sd_bus_add_object(
      bus, &slot, path, { message, userdata, _ in EventLoop.handle(message, userdata) },
      box.toOpaque())
    return try adopt(slot, result, box, call: "sd_bus_add_object")
  }

  private static func handle(
    _ message: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?
  ) -> Int32 {
    guard let userdata, let message else { return 0 }
    return Unmanaged<BusHandler>.fromOpaque(userdata).takeUnretainedValue().call(message)
  }

  private func adopt(
    _ slot: OpaquePointer?, _ result: Int32, _ box: Unmanaged<BusHandler>, call: String
  ) throws(SystemError) -> BusSlot {
    guard result >= 0, let slot else {
      box.release()
      throw SystemError(call: call, errno: -result)
    }
    sd_bus_slot_set_destroy_callback(slot) { userdata in
      if let userdata { Unmanaged<BusHandler>.fromOpaque(userdata).release() }
    }
    return BusSlot(slot)
  }

  private static func call(_ userdata: UnsafeMutableRawPointer?, _ events: UInt32) -> Int32 {
    guard let userdata else { return 0 }
    Unmanaged<Handler>.fromOpaque(userdata).takeUnretainedValue().call(PollEvents(rawValue: events))
    return 0
  }

  /// Takes ownership of a new source. libsystemd releases the handler when it destroys the source.
  private func adopt(
    _ source: OpaquePointer?, _ result: Int32, _ box: Unmanaged<Handler>, call: String
  ) throws(SystemError) -> OpaquePointer {
    guard result >= 0, let source else {
      box.release()
      throw SystemError(call: call, errno: -result)
    }
    sd_event_source_set_destroy_callback(source) { userdata in
      if let userdata { Unmanaged<Handler>.fromOpaque(userdata).release() }
    }
    return source
  }
}

/// Throws for a negative result, which in libsystemd is a negated errno.
package func check(_ call: String, _ result: Int32) throws(SystemError) {
  if result < 0 { throw SystemError(call: call, errno: -result) }
}

private final class Handler {
  let call: (PollEvents) -> Void

  init(_ call: @escaping (PollEvents) -> Void) {
    self.call = call
  }
}

private final class BusHandler {
  /// Handles a message. With the result 0, other handlers also see the message; with 1, they do not
  /// see it. If the message is a call and the result is a negated errno, sd-bus replies to the call
  /// with an error.
  let call: (OpaquePointer) -> Int32

  init(_ call: @escaping (OpaquePointer) -> Int32) {
    self.call = call
  }

  convenience init(takes: Bool, _ handle: @escaping (OpaquePointer) -> Void) {
    self.init { message in
      handle(message)
      return takes ? 1 : 0
    }
  }
}

/// A pending method call, a listener or a served object. Releasing the slot ends it.
package final class BusSlot {
  private let slot: OpaquePointer

  fileprivate init(_ slot: OpaquePointer) {
    self.slot = slot
  }

  deinit {
    sd_bus_slot_unref(slot)
  }
}

/// An event source of the loop. Releasing this object removes the source from the loop.
package class Source {
  fileprivate let source: OpaquePointer

  fileprivate init(_ source: OpaquePointer) {
    self.source = source
  }

  deinit {
    sd_event_source_disable_unref(source)
  }

  /// Gives this source priority over all sources of normal priority that are ready.
  package func setImportantPriority() {
    let result = sd_event_source_set_priority(source, Int64(SD_EVENT_PRIORITY_IMPORTANT))
    precondition(result >= 0, "sd_event_source_set_priority: errno \(-result)")
  }

  fileprivate func enable(_ mode: Int) {
    let result = sd_event_source_set_enabled(source, Int32(mode))
    precondition(result >= 0, "sd_event_source_set_enabled: errno \(-result)")
  }
}

/// A source for a descriptor that the loop watches. The descriptor must stay open for the lifetime
/// of the source.
package final class DescriptorSource: Source {
  /// Changes the readiness to wait for.
  package func wait(for readiness: PollEvents) {
    let result = sd_event_source_set_io_events(source, readiness.rawValue)
    precondition(result >= 0, "sd_event_source_set_io_events: errno \(-result)")
  }
}

/// The readiness of a descriptor (epoll(7)).
package struct PollEvents: OptionSet {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Creates a set without the standard library's generic initializer, which the compiler does not
  /// specialize in other modules.
  package init(arrayLiteral elements: PollEvents...) {
    rawValue = elements.reduce(0) { $0 | $1.rawValue }
  }

  package static let input = PollEvents(rawValue: EPOLLIN.rawValue)
  package static let output = PollEvents(rawValue: EPOLLOUT.rawValue)
  package static let priority = PollEvents(rawValue: EPOLLPRI.rawValue)
  package static let error = PollEvents(rawValue: EPOLLERR.rawValue)
  /// The peer has shut down its sending half; nothing more will arrive.
  package static let inputEnd = PollEvents(rawValue: EPOLLRDHUP.rawValue)
  /// Both directions are shut down.
  package static let hangUp = PollEvents(rawValue: EPOLLHUP.rawValue)
  /// Reports only changes of the readiness (edge-triggered).
  package static let onChange = PollEvents(rawValue: EPOLLET.rawValue)
}

/// A timer for one instant.
package final class TimerSource: Source {
  /// Sets the timer. The handler is not called before CLOCK_BOOTTIME reaches `nanoseconds`.
  package func set(_ nanoseconds: UInt64) {
    let microseconds = nanoseconds / 1000 + (nanoseconds % 1000 == 0 ? 0 : 1)
    let result = sd_event_source_set_time(source, microseconds)
    precondition(result >= 0, "sd_event_source_set_time: errno \(-result)")
    enable(SD_EVENT_ONESHOT)
  }

  package func clear() {
    enable(SD_EVENT_OFF)
  }
}

/// A source that calls its handler once after each ``request()``.
package final class DeferredSource: Source {
  fileprivate func setIdlePriority() {
    let result = sd_event_source_set_priority(source, Int64(SD_EVENT_PRIORITY_IDLE))
    precondition(result >= 0, "sd_event_source_set_priority: errno \(-result)")
  }

  fileprivate func clear() {
    enable(SD_EVENT_OFF)
  }

  package func request() {
    enable(SD_EVENT_ONESHOT)
  }
}
