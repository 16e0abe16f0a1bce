import Glibc
import LinuxSystem
import TestSupport

/// A simulated notification service that misbehaves in a chosen way. Its program uses libsystemd,
/// which is installed because the daemon needs it.
final class SimulatedService {
  enum Misbehavior: String {
    /// Answers normally.
    case answers
    /// Owns the service's name on the bus, and never reads a message.
    case hangs
    /// Reports its capabilities, and then never reads a message again.
    case hangsWhenAsked
    /// Exits when it is asked to show a notification whose title contains the word "deadly".
    case dies
    /// Never answers a request whose title contains the word "lost".
    case losesAnswers
    /// Accepts only two notifications.
    case isFull
    /// Refuses all notifications.
    case refuses
  }

  private let process: TestProcess

  init(on bus: SessionBus, _ habit: Misbehavior, uid: UInt32? = nil) throws {
    process = try TestProcess.python(Self.program, [habit.rawValue]) {
      $0.environment = bus.environment
      if let uid { $0.identity = .init(uid: uid, gid: uid, groups: []) }
    }
    guard try process.readLine() == "ready" else {
      throw SystemError(call: "starting a simulated service", errno: ECHILD)
    }
  }

  /// Makes the service send `NotificationClosed 1 2`, `ActionInvoked 1 default` or `ActivationToken
  /// 1 text`.
  func send(_ signal: String) throws { try process.writeLine(signal) }

  /// Returns the next request that the service received, such as `Notify REPLACED TITLE`.
  func readLine() throws -> String? { try process.readLine() }

  /// Whether the service has received a request that ``readLine()`` has not returned.
  var hasWritten: Bool {
    get throws { try process.hasWritten }
  }

  /// Waits until the service ends.
  func waitForExit() throws { _ = try process.waitForExit() }

  static let program = #"""
    import ctypes, os, select, signal, sys
    sd = ctypes.CDLL("libsystemd.so.0")
    sd.sd_bus_message_get_member.restype = ctypes.c_char_p
    habit = sys.argv[1]
    NAME = b"org.freedesktop.Notifications"
    PATH = b"/org/freedesktop/Notifications"
    bus = ctypes.c_void_p()

    def check(result):
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result

    check(sd.sd_bus_new(ctypes.byref(bus)))
    check(sd.sd_bus_set_address(bus, os.environ["DBUS_SESSION_BUS_ADDRESS"].encode()))
    check(sd.sd_bus_set_bus_client(bus, 1))
    check(sd.sd_bus_start(bus))
    check(sd.sd_bus_request_name(bus, NAME, ctypes.c_uint64(0)))
    print("ready", flush=True)
    if habit == "hangs":
        signal.pause()
    number = 0
    shown = set()

    def text(message):
        value = ctypes.c_char_p()
        check(sd.sd_bus_message_read_basic(message, ord("s"), ctypes.byref(value)))
        return value.value.decode()

    def integer(message):
        value = ctypes.c_uint32()
        check(sd.sd_bus_message_read_basic(message, ord("u"), ctypes.byref(value)))
        return value.value

    def notify(message):
        global number
        text(message)
        replaced = integer(message)
        text(message)
        title = text(message)
        print("Notify", replaced, title, flush=True)
        if habit == "hangsWhenAsked":
            signal.pause()
        if habit == "dies" and "deadly" in title:
            os._exit(1)
        if habit == "losesAnswers" and "lost" in title:
            return
        if habit == "refuses":
            check(sd.sd_bus_reply_method_errorf(
                message, b"org.example.Refused", b"never"))
            return
        if habit == "isFull" and len(shown) >= 2:
            check(sd.sd_bus_reply_method_errorf(
                message, NAME + b".Error.ExcessNotificationGeneration", b"full"))
            return
        if not replaced:
            number += 1
        name = replaced or number
        shown.add(name)
        check(sd.sd_bus_reply_method_return(message, b"u", ctypes.c_uint32(name)))

    def serve(message):
        member = sd.sd_bus_message_get_member(message)
        if member == b"GetCapabilities":
            check(sd.sd_bus_reply_method_return(
                message, b"as", ctypes.c_uint(2), b"body", b"actions"))
        elif member == b"Notify":
            notify(message)
        elif member == b"CloseNotification":
            print("CloseNotification", integer(message), flush=True)
            check(sd.sd_bus_reply_method_return(message, b""))

    def say(line):
        words = line.split()
        name = ctypes.c_uint32(int(words[1]))
        if words[0] == "NotificationClosed":
            shown.discard(name.value)
            check(sd.sd_bus_emit_signal(
                bus, PATH, NAME, words[0].encode(), b"uu", name,
                ctypes.c_uint32(int(words[2]))))
        else:
            check(sd.sd_bus_emit_signal(
                bus, PATH, NAME, words[0].encode(), b"us", name, words[2].encode()))

    # A service that the bus has started receives no commands on its standard input.
    inputs = [] if "DBUS_STARTER_ADDRESS" in os.environ else [0]
    while True:
        message = ctypes.c_void_p()
        if check(sd.sd_bus_process(bus, ctypes.byref(message))) > 0:
            if message:
                serve(message)
                sd.sd_bus_message_unref(message)
            continue
        ready, _, _ = select.select(inputs + [sd.sd_bus_get_fd(bus)], [], [])
        if 0 in ready:
            lines = os.read(0, 65536).decode().splitlines()
            if not lines:
                break
            for line in lines:
                say(line)
    """#
}
