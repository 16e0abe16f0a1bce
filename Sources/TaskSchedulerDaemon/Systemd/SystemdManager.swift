import CSystemd
import EventLoop
import Glibc
import LinuxSystem

/// A connection to the private socket of the service manager that runs the daemon: the system's
/// manager, or a user's manager. The connection needs no message bus.
///
/// The connection exists only while replies are outstanding, or while there is a listener. systemd
/// sends each change of each unit to its connections, which would wake an idle daemon.
final class SystemdManager {
  private let loop: EventLoop
  private let socketPath: String
  private var bus: OpaquePointer?
  private var calls: [UInt64: BusSlot] = [:]
  private var callNumber: UInt64 = 0
  private var listener: ((OpaquePointer) -> Void)?
  private var listening: BusSlot?
  /// The deferred work that closes the connection when no reply is outstanding. The handler of a
  /// reply must not close the connection itself.
  private var idle: DeferredSource?

  /// The time limit for a reply. The manager replies late while it reads all of its units again.
  private static let timeout: Duration = .seconds(25)

  /// Creates a connection to the manager that runs this process as a service: the system's manager,
  /// or the user's own. Connects at the first call.
  ///
  /// - Returns: nil if no manager started this process as a service, or the manager's private
  ///   socket is not available.
  init?(loop: EventLoop, scope: ConfigurationPaths.Scope) throws(SystemError) {
    guard let starter = Self.environment("SYSTEMD_EXEC_PID"), starter == "\(getpid())" else {
      return nil
    }
    switch scope {
    case .system:
      guard geteuid() == 0 else { return nil }
      socketPath = "/run/systemd/private"
    case .user:
      guard let folder = Self.environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") else {
        return nil
      }
      socketPath = folder + "/systemd/private"
    }
    guard access(socketPath, F_OK) == 0 else { return nil }
    self.loop = loop
    idle = try loop.whenIdle { [weak self] in self?.disconnectIfIdle() }
  }

  deinit {
    calls = [:]
    disconnect()
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  // MARK: Calls

  /// Starts a transient service. systemd removes the unit when the service has ended.
  ///
  /// - Parameter answer: Called once: with nil if the manager accepted the unit, otherwise with the
  ///   problem.
  func startTransient(
    _ unit: String, _ properties: [UnitProperty], answer: @escaping (String?) -> Void
  ) throws(SystemError) {
    let bus = try connection()
    var message: OpaquePointer?
    try check(
      "sd_bus_message_new_method_call",
      sd_bus_message_new_method_call(
        bus, &message, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
        "org.freedesktop.systemd1.Manager", "StartTransientUnit"))
    guard let message else { throw SystemError(call: "sd_bus_message_new", errno: ENOMEM) }
    defer { sd_bus_message_unref(message) }
    let body = MessageBody(message)
    try body.append(unit)
    try body.append("fail")
    try body.array("(sv)") { () throws(SystemError) in
      for property in properties { try property.append(to: body) }
    }
    try body.array("(sa(sv))") { () throws(SystemError) in }
    callNumber += 1
    let number = callNumber
    calls[number] = try loop.call(message, on: bus, timeout: Self.timeout) { [weak self] reply in
      let error = sd_bus_message_get_error(reply).map { error in
        String(cString: error.pointee.message ?? error.pointee.name)
      }
      guard let self else { return }
      calls[number] = nil
      idle?.request()
      answer(error)
    }
  }

  // MARK: Signals

  /// Passes every message of later connections to `listener`.
  func listen(_ listener: @escaping (OpaquePointer) -> Void) {
    self.listener = listener
  }

  /// Connects if there is a listener and no connection.
  func connectIfListening() throws(SystemError) {
    if listener != nil { _ = try connection() }
  }

  // MARK: The connection

  func connection() throws(SystemError) -> OpaquePointer {
    if let bus, sd_bus_is_open(bus) > 0 { return bus }
    disconnect()
    var fresh: OpaquePointer?
    try check("sd_bus_new", sd_bus_new(&fresh))
    guard let fresh else { throw SystemError(call: "sd_bus_new", errno: ENOMEM) }
    bus = fresh
    do throws(SystemError) {
      try check("sd_bus_set_address", sd_bus_set_address(fresh, "unix:path=\(socketPath)"))
      try check("connect \(socketPath)", sd_bus_start(fresh))
      try loop.serve(fresh)
      if let listener { listening = try loop.listen(on: fresh, listener) }
    } catch {
      disconnect()
      throw error
    }
    return fresh
  }

  private func disconnectIfIdle() {
    if calls.isEmpty, listener == nil { disconnect() }
  }

  private func disconnect() {
    guard let bus else { return }
    self.bus = nil
    listening = nil
    sd_bus_detach_event(bus)
    sd_bus_close_unref(bus)
  }
}

/// A property of a transient unit, with its type in systemd's D-Bus interface.
enum UnitProperty {
  case text(String, String)
  case flag(String, Bool)
  case number(String, Int32)
  case texts(String, [String])
  /// An open file. The manager receives a duplicate.
  case descriptor(String, Int32)
  /// ExecStart=: the path of a program, and its arguments, beginning with argv[0].
  case command(String, [String])

  fileprivate func append(to body: MessageBody) throws(SystemError) {
    try body.structure("sv") { () throws(SystemError) in
      switch self {
      case .text(let name, let value):
        try body.append(name)
        try body.variant("s") { () throws(SystemError) in try body.append(value) }
      case .flag(let name, let value):
        try body.append(name)
        try body.variant("b") { () throws(SystemError) in try body.append(value) }
      case .number(let name, let value):
        try body.append(name)
        try body.variant("i") { () throws(SystemError) in try body.append(value) }
      case .texts(let name, let values):
        try body.append(name)
        try body.variant("as") { () throws(SystemError) in try body.append(values) }
      case .descriptor(let name, let number):
        try body.append(name)
        try body.variant("h") { () throws(SystemError) in try body.append(descriptor: number) }
      case .command(let path, let arguments):
        try body.append("ExecStart")
        try body.variant("a(sasb)") { () throws(SystemError) in
          try body.array("(sasb)") { () throws(SystemError) in
            try body.structure("sasb") { () throws(SystemError) in
              try body.append(path)
              try body.append(arguments)
              // The field "ignore failure" is false: a failure of the program is a failure of the
              // unit.
              try body.append(false)
            }
          }
        }
      }
    }
  }
}
