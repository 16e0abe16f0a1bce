import CSystemd
import EventLoop
import Glibc
import LinuxSystem

/// The exit statuses of programs in units, as systemd reports them. Before Linux 6.15, the kernel
/// reports an exit status reliably only to the parent process, which is systemd.
///
/// The daemon keeps a connection open, on which systemd reports the changes of all units.
final class UnitExits {
  private let manager: SystemdManager
  private var timer: TimerSource?
  /// The watched units, with the exit status if it is known.
  private var units: [String: ProcessExit?] = [:]
  private var asked: [String: PendingQuery] = [:]

  private struct PendingQuery {
    var limit: UInt64
    var answer: (ProcessExit?) -> Void
  }

  /// How long the daemon waits for systemd's report of a program's end after the kernel has
  /// reported the end.
  private static let delayMax: Duration = .seconds(2)

  init(manager: SystemdManager, loop: EventLoop) throws(SystemError) {
    self.manager = manager
    timer = try loop.timer { [weak self] in self?.giveUp() }
    manager.listen { [weak self] in self?.received($0) }
  }

  /// Begins to watch a unit for the end of its program.
  func follow(_ unit: String) {
    if units[unit] == nil { units[unit] = .some(nil) }
    // Without the connection, the daemon reports ends with an unknown status.
    try? manager.connectIfListening()
  }

  func forget(_ unit: String) {
    units[unit] = nil
    asked[unit] = nil
  }

  /// Determines how a program ended.
  ///
  /// - Parameter answer: Called once, possibly before this function returns. The status is nil if
  ///   systemd does not report the end in time. Not called if the daemon stops watching the unit
  ///   first.
  func status(of unit: String, answer: @escaping (ProcessExit?) -> Void) {
    if let known = units[unit] ?? nil { return answer(known) }
    asked[unit] = PendingQuery(limit: BootClock.after(Self.delayMax), answer: answer)
    setTimer()
  }

  private func received(_ message: OpaquePointer) {
    guard let unit = Self.unit(of: message), units[unit] != nil,
      let end = Self.mainEnd(in: message)
    else { return }
    units[unit] = end
    if let question = asked.removeValue(forKey: unit) { question.answer(end) }
  }

  private func giveUp() {
    let now = BootClock.now()
    for unit in asked.filter({ $0.value.limit <= now }).keys.sorted() {
      asked.removeValue(forKey: unit)?.answer(nil)
    }
    setTimer()
  }

  private func setTimer() {
    if let next = asked.values.map(\.limit).min() { timer?.set(next) } else { timer?.clear() }
  }

  // MARK: Reading signals

  /// Returns the unit whose properties have changed; nil for any other message.
  private static func unit(of message: OpaquePointer) -> String? {
    guard
      sd_bus_message_is_signal(
        message, "org.freedesktop.DBus.Properties", "PropertiesChanged") > 0,
      let path = sd_bus_message_get_path(message)
    else { return nil }
    var name: UnsafeMutablePointer<CChar>?
    guard sd_bus_path_decode(path, "/org/freedesktop/systemd1/unit", &name) > 0, let name else {
      return nil
    }
    defer { free(name) }
    return String(cString: name)
  }

  /// Returns how the main process ended. ExecMainCode is a code of waitid(2), and ExecMainStatus is
  /// the exit code or the signal. Returns nil while the process runs, and for messages about other
  /// properties.
  private static func mainEnd(in message: OpaquePointer) -> ProcessExit? {
    let array = CChar(UInt8(ascii: "a")), entry = CChar(UInt8(ascii: "e"))
    guard text(message) == "org.freedesktop.systemd1.Service",
      sd_bus_message_enter_container(message, array, "{sv}") > 0
    else { return nil }
    var code: Int32 = 0
    var status: Int32?
    while sd_bus_message_enter_container(message, entry, "sv") > 0 {
      switch text(message) {
      case "ExecMainCode": code = integer(message) ?? 0
      case "ExecMainStatus": status = integer(message)
      case _:
        if sd_bus_message_skip(message, "v") < 0 { return nil }
      }
      if sd_bus_message_exit_container(message) < 0 { return nil }
    }
    guard let status else { return nil }
    switch Int(code) {
    case Int(CLD_EXITED): return .exited(code: status)
    case Int(CLD_KILLED), Int(CLD_DUMPED): return .signaled(signal: status)
    case _: return nil
    }
  }

  private static func text(_ message: OpaquePointer) -> String? {
    var text: UnsafePointer<CChar>?
    guard sd_bus_message_read_basic(message, CChar(UInt8(ascii: "s")), &text) > 0 else {
      return nil
    }
    return text.map { String(cString: $0) }
  }

  private static func integer(_ message: OpaquePointer) -> Int32? {
    var number: Int32 = 0
    guard sd_bus_message_enter_container(message, CChar(UInt8(ascii: "v")), "i") > 0,
      sd_bus_message_read_basic(message, CChar(UInt8(ascii: "i")), &number) > 0,
      sd_bus_message_exit_container(message) >= 0
    else { return nil }
    return number
  }
}
