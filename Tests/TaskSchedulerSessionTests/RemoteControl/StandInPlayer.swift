import Glibc
import LinuxSystem
import TestSupport

/// A media player in a process of its own, which answers each call with an empty reply. Its program
/// uses libsystemd, which is installed because the daemon needs it.
final class StandInPlayer {
  let name: String
  /// The unique name of the player's connection.
  let uniqueName: String
  private let process: TestProcess

  /// Starts the player, and waits until it owns its name.
  ///
  /// - Parameter name: the part of the name after `org.mpris.MediaPlayer2.`.
  init(_ name: String, on bus: SessionBus) throws {
    let name = "org.mpris.MediaPlayer2.\(name)"
    let process = try TestProcess.python(Self.program, [name]) { $0.environment = bus.environment }
    guard let line = try process.readLine(), line.hasPrefix(":") else {
      throw SystemError(call: "starting a stand-in player", errno: ECHILD)
    }
    self.name = name
    self.process = process
    uniqueName = line
  }

  var pid: Int32 { process.pid }

  /// Returns the next call that the player has received, such as
  /// `org.mpris.MediaPlayer2.Player.Play`. The argument of Seek follows.
  func readLine() throws -> String? { try process.readLine() }

  /// Whether there is a call that ``readLine()`` has not returned.
  var hasWritten: Bool {
    get throws { try process.hasWritten }
  }

  func send(signal: Int32) throws { try process.pidfd.send(signal: signal) }

  /// Makes the player own another name too, or no longer own a name.
  func run(_ command: String, _ name: String) throws { try process.writeLine("\(command) \(name)") }

  private static let program = #"""
    import ctypes, os, select, sys
    sd = ctypes.CDLL("libsystemd.so.0")
    for getter in (sd.sd_bus_message_get_member, sd.sd_bus_message_get_interface):
        getter.restype = ctypes.c_char_p
    bus = ctypes.c_void_p()

    def check(result):
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result

    def request(name):
        check(sd.sd_bus_request_name(bus, name.encode(), ctypes.c_uint64(0)))

    check(sd.sd_bus_new(ctypes.byref(bus)))
    check(sd.sd_bus_set_address(bus, os.environ["DBUS_SESSION_BUS_ADDRESS"].encode()))
    check(sd.sd_bus_set_bus_client(bus, 1))
    check(sd.sd_bus_start(bus))
    request(sys.argv[1])
    unique = ctypes.c_char_p()
    check(sd.sd_bus_get_unique_name(bus, ctypes.byref(unique)))
    print(unique.value.decode(), flush=True)

    def serve(message):
        if sd.sd_bus_message_is_method_call(message, None, None) <= 0:
            return
        member = sd.sd_bus_message_get_member(message).decode()
        words = [sd.sd_bus_message_get_interface(message).decode() + "." + member]
        if member == "Seek":
            offset = ctypes.c_int64()
            check(sd.sd_bus_message_read_basic(message, ord("x"), ctypes.byref(offset)))
            words.append(str(offset.value))
        print(*words, flush=True)
        check(sd.sd_bus_reply_method_return(message, b""))

    while True:
        message = ctypes.c_void_p()
        if check(sd.sd_bus_process(bus, ctypes.byref(message))) > 0:
            if message:
                serve(message)
                sd.sd_bus_message_unref(message)
            continue
        ready, _, _ = select.select([0, sd.sd_bus_get_fd(bus)], [], [])
        if 0 in ready:
            lines = os.read(0, 65536).decode().splitlines()
            if not lines:
                break
            for line in lines:
                command, name = line.split()
                if command == "own":
                    request(name)
                else:
                    check(sd.sd_bus_release_name(bus, name.encode()))
    """#
}
