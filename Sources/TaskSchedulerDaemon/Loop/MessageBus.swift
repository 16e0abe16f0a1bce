import CSystemd
import Glibc
import LinuxSystem

/// Where a message bus is.
struct BusAddress: Hashable {
  /// As the D-Bus specification writes addresses: of Unix sockets only.
  var text: String
  /// Whose process must listen there; nil: anybody's.
  var owner: UInt32?
}

/// A connection to a message bus, which never blocks the loop: what it is made of, calls and
/// answers, comes and goes as the sockets allow.
final class MessageBus {
  /// How the connection stands.
  enum State: Equatable {
    case closed
    /// Also for as long as nobody listens, where that is waited for.
    case connecting
    case connected
    /// By the other side, or given up for the reason given; until ``disconnect()``.
    case lost(String)
  }

  /// What is told of it, always from the loop.
  enum Happening {
    /// The state is now ``State/connected`` or ``State/lost(_:)``.
    case changed
    case message(OpaquePointer)
  }

  private let loop: EventLoop
  private let address: BusAddress
  private var report: ((Happening) -> Void)?
  private var bus: OpaquePointer?
  private var listening: BusSlot?
  private var calls: [BusCall: BusSlot] = [:]
  private var callNumber: UInt64 = 0
  private(set) var state = State.closed

  init(loop: EventLoop, address: BusAddress) {
    self.loop = loop
    self.address = address
  }

  /// What tells the connected bus from any other, an earlier one at the same address included; nil
  /// where it does not say.
  var id: String? {
    guard state == .connected, let bus else { return nil }
    var id = sd_id128_t()
    guard sd_bus_get_bus_id(bus, &id) >= 0 else { return nil }
    return withUnsafeBytes(of: id) { bytes in
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
  }

  /// Hands `report` all that happens from now on.
  func listen(_ report: @escaping (Happening) -> Void) {
    self.report = report
  }

  deinit {
    disconnect()
  }

  // MARK: The connection

  /// Begins to connect.
  ///
  /// - Parameter waiting: where nobody listens, wait until somebody does; told by the kernel
  ///   (inotify on the folders of the socket), not asked for.
  /// - Throws: ENOENT and ECONNREFUSED where nobody listens, unless that is waited for; EACCES,
  ///   EINVAL for an address that is none, …
  func connect(waiting: Bool) throws(SystemError) {
    disconnect()
    var fresh: OpaquePointer?
    try check("sd_bus_new", sd_bus_new(&fresh))
    guard let fresh else { throw SystemError(call: "sd_bus_new", errno: ENOMEM) }
    bus = fresh
    state = .connecting
    do throws(SystemError) {
      try check("sd_bus_set_address \(address.text)", sd_bus_set_address(fresh, address.text))
      try check("sd_bus_set_bus_client", sd_bus_set_bus_client(fresh, 1))
      try check("sd_bus_set_connected_signal", sd_bus_set_connected_signal(fresh, 1))
      try check("sd_bus_set_watch_bind", sd_bus_set_watch_bind(fresh, waiting ? 1 : 0))
      // Nobody's descriptors are wanted.
      try check("sd_bus_negotiate_fds", sd_bus_negotiate_fds(fresh, 0))
      listening = try loop.listen(on: fresh) { [weak self] in self?.heard($0) }
      try check("connect \(address.text)", start(fresh))
      try loop.serve(fresh)
    } catch {
      disconnect()
      throw error
    }
  }

  /// As the user whose bus it is, where we may: such a bus lets nobody else in, not even root. A
  /// connection that is made only when somebody listens is made as ourselves, and is refused then.
  private func start(_ bus: OpaquePointer) -> Int32 {
    guard let owner = address.owner, owner != geteuid() else { return sd_bus_start(bus) }
    return ThreadIdentity.with(effectiveUID: owner) { sd_bus_start(bus) } ?? sd_bus_start(bus)
  }

  /// Drops the connection and all calls: no answer comes any more. Not from within an answer or a
  /// report.
  func disconnect() {
    calls = [:]
    listening = nil
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
        ? "the bus has closed the connection"
        : "the bus has not taken us in, as one does that serves its own user's programs alone"
      lose(reason)
    } else if sd_bus_message_is_signal(message, local, "Connected") > 0 {
      if let reason = reasonToDistrust() { return lose(reason) }
      state = .connected
      report?(.changed)
    } else if state == .connected {
      report?(.message(message))
    }
  }

  /// Gives the connection up; it is dropped by ``disconnect()``.
  func lose(_ reason: String) {
    if case .lost = state { return }
    state = .lost(reason)
    report?(.changed)
  }

  /// The socket lies in a folder of the user's, who may have put a link there to another user's.
  private func reasonToDistrust() -> String? {
    guard let owner = address.owner, let bus else { return nil }
    let number = sd_bus_get_fd(bus)
    guard number >= 0, let peer = try? UnixSocket.credentials(number) else {
      return "it cannot be told who listens at \(address.text)"
    }
    return peer.uid == owner ? nil : "at \(address.text) listens user \(peer.uid), not \(owner)"
  }

  // MARK: Calls

  /// Calls a method.
  ///
  /// - Parameters:
  ///   - timeout: after which it is answered with an error; nil: it is awaited for as long as the
  ///     one who was called is on the bus.
  ///   - answer: called once, from the loop, unless the call is forgotten or dropped before.
  @discardableResult
  func call(
    _ method: BusMethod, timeout: Duration?,
    arguments: (MessageBody) throws(SystemError) -> Void = { _ throws(SystemError) in },
    answer: @escaping (BusAnswer) -> Void
  ) throws(SystemError) -> BusCall {
    guard let bus else { throw SystemError(call: method.member, errno: ENOTCONN) }
    var message: OpaquePointer?
    try check(
      "sd_bus_message_new_method_call",
      sd_bus_message_new_method_call(
        bus, &message, method.destination, method.path, method.interface, method.member))
    guard let message else { throw SystemError(call: "sd_bus_message_new", errno: ENOMEM) }
    defer { sd_bus_message_unref(message) }
    try check("sd_bus_message_set_auto_start", sd_bus_message_set_auto_start(message, 0))
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

  /// Its answer will not be heard.
  func forget(_ call: BusCall) {
    calls[call] = nil
  }

  /// sd-bus has no name for "for ever": 100 years.
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

/// What is called.
struct BusMethod {
  var destination: String
  var path: String
  var interface: String
  var member: String

  /// A method of the bus itself.
  static func ofBus(_ member: String) -> BusMethod {
    BusMethod(
      destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus", member: member)
  }
}

/// A call that is awaited, as its connection knows it.
struct BusCall: Hashable {
  fileprivate let number: UInt64
}

/// What has become of a call.
enum BusAnswer {
  /// Its values, to be read before the handler returns.
  case reply(MessageReader)
  case error(BusError)
  /// The connection was lost meanwhile.
  case dropped
}

/// An error as D-Bus has it: a name such as `org.freedesktop.DBus.Error.ServiceUnknown`, and a text
/// for people, which may be empty.
struct BusError: CustomStringConvertible {
  var name: String
  var text: String

  var description: String { text.isEmpty ? name : "\(text) (\(name))" }

  private static let prefix = "org.freedesktop.DBus.Error."

  /// Nobody has the name that was called.
  var saysNobodyThere: Bool { isOne(of: ["ServiceUnknown", "NameHasNoOwner"]) }

  /// Who was called has left the bus before it answered.
  var saysNoReply: Bool { isOne(of: ["NoReply"]) }

  /// The bus or its rules refuse it, and not the one who was called.
  var saysNotAllowed: Bool { isOne(of: ["AccessDenied", "LimitsExceeded", "NoMemory"]) }

  private func isOne(of names: [String]) -> Bool {
    names.contains { name == Self.prefix + $0 }
  }
}
