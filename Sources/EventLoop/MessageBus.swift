import CSystemd
import Glibc
import LinuxSystem

/// The address of a message bus.
package struct BusAddress: Hashable {
  /// The address in the syntax of the D-Bus specification, limited to Unix sockets.
  package var text: String

  package init(text: String) {
    self.text = text
  }
}

/// A connection to a message bus. The connection never blocks the loop.
package final class MessageBus {
  /// The state of the connection.
  package enum State: Equatable {
    case closed
    /// The connection is in progress, or waits until a bus listens.
    case connecting
    case connected
    /// The bus closed the connection, or the connection failed for this reason. The state lasts
    /// until ``disconnect()``.
    case lost(String)
  }

  /// An event of the connection, delivered from the loop or from within ``lose(_:)``.
  package enum Occurrence {
    /// The state is now ``State/connected`` or ``State/lost(_:)``.
    case changed
    case message(OpaquePointer)
  }

  private let loop: EventLoop
  private let address: BusAddress
  private let isMonitor: Bool
  private var report: ((Occurrence) -> Void)?
  private var bus: OpaquePointer?
  private var listening: BusSlot?
  private var served: (path: String, handler: (BusCallToServe) -> BusReply)?
  private var serving: BusSlot?
  private var calls: [BusCall: BusSlot] = [:]
  private var callNumber: UInt64 = 0
  package private(set) var state = State.closed

  /// - Parameter isMonitor: Whether the connection is for ``becomeMonitor(_:timeout:answer:)``. A
  ///   monitor never replies to a call.
  package init(loop: EventLoop, address: BusAddress, isMonitor: Bool = false) {
    self.loop = loop
    self.address = address
    self.isMonitor = isMonitor
  }

  /// The id of the connected bus; nil if no bus is connected, or if the bus has no id. Two buses
  /// never have the same id, even if they use the same address one after the other.
  package var id: String? {
    guard state == .connected, let bus else { return nil }
    var id = sd_id128_t()
    guard sd_bus_get_bus_id(bus, &id) >= 0 else { return nil }
    return withUnsafeBytes(of: id) { bytes in
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
  }

  /// The unique name of this connection, such as `:1.42`; nil unless it is connected.
  package var uniqueName: String? {
    guard state == .connected, let bus else { return nil }
    var name: UnsafePointer<CChar>?
    guard sd_bus_get_unique_name(bus, &name) >= 0 else { return nil }
    return name.map { String(cString: $0) }
  }

  /// Sets the handler for all calls to the object at `path`, except calls of the interface
  /// `org.freedesktop.DBus.Peer`. The connection sends the reply that the handler returns. Set the
  /// handler before connecting.
  package func serve(path: String, _ handler: @escaping (BusCallToServe) -> BusReply) {
    served = (path, handler)
  }

  /// Sets the handler for all events.
  package func listen(_ report: @escaping (Occurrence) -> Void) {
    self.report = report
  }

  deinit {
    disconnect()
  }

  // MARK: The connection

  /// Starts connecting.
  ///
  /// - Parameter waiting: Whether to wait until a bus listens. inotify on the directories of the
  ///   socket reports when a bus listens, without polling.
  /// - Throws: ENOENT and ECONNREFUSED if no bus listens, unless `waiting`; EACCES; EINVAL for an
  ///   invalid address; and others.
  package func connect(waiting: Bool) throws(SystemError) {
    disconnect()
    var fresh: OpaquePointer?
    try check("sd_bus_new", sd_bus_new(&fresh))
    guard let fresh else { throw SystemError(call: "sd_bus_new", errno: ENOMEM) }
    bus = fresh
    state = .connecting
    do throws(SystemError) {
      try check("sd_bus_set_address \(address.text)", sd_bus_set_address(fresh, address.text))
      try check("sd_bus_set_bus_client", sd_bus_set_bus_client(fresh, 1))
      try check("sd_bus_set_monitor", sd_bus_set_monitor(fresh, isMonitor ? 1 : 0))
      try check("sd_bus_set_connected_signal", sd_bus_set_connected_signal(fresh, 1))
      try check("sd_bus_set_watch_bind", sd_bus_set_watch_bind(fresh, waiting ? 1 : 0))
      // No program of this package expects descriptors in messages.
      try check("sd_bus_negotiate_fds", sd_bus_negotiate_fds(fresh, 0))
      listening = try loop.listen(on: fresh, takesAll: isMonitor) { [weak self] in
        self?.heard($0)
      }
      if let served {
        serving = try loop.serve(path: served.path, on: fresh) {
          served.handler(BusCallToServe($0))
        }
      }
      try check("connect \(address.text)", sd_bus_start(fresh))
      try loop.serve(fresh)
    } catch {
      disconnect()
      throw error
    }
  }

  /// Closes the connection and cancels all pending calls. Do not call this method from the handler
  /// of a reply or of an event.
  package func disconnect() {
    calls = [:]
    listening = nil
    serving = nil
    state = .closed
    guard let bus else { return }
    self.bus = nil
    sd_bus_detach_event(bus)
    sd_bus_close_unref(bus)
  }

  private func heard(_ message: OpaquePointer) {
    let local = "org.freedesktop.DBus.Local"
    if sd_bus_message_is_signal(message, local, "Disconnected") > 0 {
      let reason =
        state == .connected
        ? "the bus closed the connection"
        : "the bus refused the connection; a user's bus may refuse all other users"
      lose(reason)
    } else if sd_bus_message_is_signal(message, local, "Connected") > 0 {
      state = .connected
      report?(.changed)
    } else if state == .connected {
      report?(.message(message))
    }
  }

  /// Marks the connection as lost. ``disconnect()`` closes it.
  package func lose(_ reason: String) {
    if case .lost = state { return }
    state = .lost(reason)
    report?(.changed)
  }

  // MARK: Calls

  /// Calls a method.
  ///
  /// - Parameters:
  ///   - timeout: The time limit for a reply; nil to wait for as long as the called service is on
  ///     the bus.
  ///   - answer: Called once, from the loop, unless the call is cancelled first.
  @discardableResult
  package func call(
    _ method: BusMethod, timeout: Duration?,
    arguments: (MessageBody) throws(SystemError) -> Void = { _ throws(SystemError) in },
    answer: @escaping (BusAnswer) -> Void
  ) throws(SystemError) -> BusCall {
    guard let bus else { throw SystemError(call: method.member, errno: ENOTCONN) }
    let message = try message(method, on: bus)
    defer { sd_bus_message_unref(message) }
    try arguments(MessageBody(message))
    callNumber += 1
    let call = BusCall(number: callNumber)
    calls[call] = try loop.call(message, on: bus, timeout: timeout ?? Self.noTimeout) {
      [weak self] reply in
      guard let self else { return }
      calls[call] = nil
      answer(self.answer(reply))
    }
    return call
  }

  /// Calls a method without waiting for a reply, and requests that the service send none.
  package func send(
    _ method: BusMethod,
    arguments: (MessageBody) throws(SystemError) -> Void = { _ throws(SystemError) in }
  ) throws(SystemError) {
    guard let bus else { throw SystemError(call: method.member, errno: ENOTCONN) }
    let message = try message(method, on: bus)
    defer { sd_bus_message_unref(message) }
    try check("sd_bus_message_set_expect_reply", sd_bus_message_set_expect_reply(message, 0))
    try arguments(MessageBody(message))
    try check("sd_bus_send", sd_bus_send(bus, message, nil))
  }

  /// Returns the message of a call, without arguments. The bus does not start the service for this
  /// call. The caller of this function must release the message.
  private func message(
    _ method: BusMethod, on bus: OpaquePointer
  ) throws(SystemError) -> OpaquePointer {
    var message: OpaquePointer?
    try check(
      "sd_bus_message_new_method_call",
      sd_bus_message_new_method_call(
        bus, &message, method.destination, method.path, method.interface, method.member))
    guard let message else { throw SystemError(call: "sd_bus_message_new", errno: ENOMEM) }
    let result = sd_bus_message_set_auto_start(message, 0)
    precondition(result >= 0, "sd_bus_message_set_auto_start: errno \(-result)")
    return message
  }

  /// Makes this connection a monitor: the bus copies each message that matches one of the rules to
  /// this connection, regardless of the message's destination. The bus disconnects a monitor that
  /// sends a message, so send nothing else on this connection.
  ///
  /// - Parameter answer: Called once, from the loop. An error means that the connection has not
  ///   become a monitor, perhaps because the bus does not permit this client to be one.
  package func becomeMonitor(
    _ rules: [String], timeout: Duration?, answer: @escaping (BusAnswer) -> Void
  ) throws(SystemError) {
    precondition(isMonitor, "the connection would reply to the calls that it sees")
    let method = BusMethod(
      destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus.Monitoring", member: "BecomeMonitor")
    try call(
      method, timeout: timeout,
      arguments: { body throws(SystemError) in
        try body.append(rules)
        try body.append(UInt32(0))
      }, answer: answer)
  }

  /// Sends a signal.
  package func emit(
    _ member: String, of interface: String, at path: String,
    arguments: (MessageBody) throws(SystemError) -> Void
  ) throws(SystemError) {
    guard let bus else { throw SystemError(call: member, errno: ENOTCONN) }
    var message: OpaquePointer?
    try check(
      "sd_bus_message_new_signal",
      sd_bus_message_new_signal(bus, &message, path, interface, member))
    guard let message else { throw SystemError(call: "sd_bus_message_new", errno: ENOMEM) }
    defer { sd_bus_message_unref(message) }
    try arguments(MessageBody(message))
    try check("sd_bus_send", sd_bus_send(bus, message, nil))
  }

  /// Cancels a call. The reply is discarded.
  package func forget(_ call: BusCall) {
    calls[call] = nil
  }

  /// 100 years, because sd-bus documents no value for "no timeout".
  private static let noTimeout: Duration = .seconds(100 * 365 * 86_400)

  private func answer(_ reply: OpaquePointer) -> BusAnswer {
    guard let error = sd_bus_message_get_error(reply) else {
      return .reply(MessageReader(reply))
    }
    guard let bus, sd_bus_is_open(bus) > 0 else { return .dropped }
    let name = error.pointee.name.map { String(cString: $0) } ?? ""
    let text = error.pointee.message.map { String(cString: $0) } ?? ""
    return .error(BusError(name: name, text: text))
  }
}

/// A method of a service.
package struct BusMethod {
  package var destination: String
  package var path: String
  package var interface: String
  package var member: String

  package init(destination: String, path: String, interface: String, member: String) {
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
  }

  /// Returns a method of the bus itself.
  package static func ofBus(_ member: String) -> BusMethod {
    BusMethod(
      destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus", member: member)
  }
}

/// An identifier of a pending call.
package struct BusCall: Hashable {
  fileprivate let number: UInt64
}

/// The outcome of a call.
package enum BusAnswer {
  /// The reply, which the handler must read before it returns.
  case reply(MessageReader)
  case error(BusError)
  /// The connection was lost before a reply came.
  case dropped
}

/// A D-Bus error: a name such as `org.freedesktop.DBus.Error.ServiceUnknown`, and a text for users,
/// which may be empty.
package struct BusError: CustomStringConvertible {
  package var name: String
  package var text: String

  package init(name: String, text: String) {
    self.name = name
    self.text = text
  }

  package var description: String { text.isEmpty ? name : "\(text) (\(name))" }

  private static let prefix = "org.freedesktop.DBus.Error."

  /// Whether the call failed because no service on the bus has the called name.
  package var isServiceUnknown: Bool { isOne(of: ["ServiceUnknown", "NameHasNoOwner"]) }

  /// Whether the service left the bus before it replied, or the timeout of the call expired.
  package var saysNoReply: Bool { isOne(of: ["NoReply"]) }

  /// Whether the bus uses this error when it refuses a call itself, because of its policy, a quota
  /// or a lack of memory.
  package var saysNotAllowed: Bool { isOne(of: ["AccessDenied", "LimitsExceeded", "NoMemory"]) }

  private func isOne(of names: [String]) -> Bool {
    names.contains { name == Self.prefix + $0 }
  }
}
