import Glibc
import LinuxSystem

/// The real ModemManager with an emulated modem, on a system bus of its own. It ends with the
/// value.
public final class ModemService {
  public let bus: SessionBus
  private let directory: TemporaryDirectory
  private let modem: TestProcess
  private let manager: GuardedProcess

  private static let name = "org.freedesktop.ModemManager1"
  private static let path = "/org/freedesktop/ModemManager1"
  private static let program = "/usr/sbin/ModemManager"

  /// The reason why this machine cannot run ModemManager; nil if it can.
  public static let missing: String? =
    SessionBus.missing
    ?? (access(program, X_OK) == 0
      ? nil : "there is no \(program); `make test-setup` installs it")

  /// Starts the bus, ModemManager and the modem, and waits until calls can reach the modem.
  public init() throws {
    directory = TemporaryDirectory(mode: 0o755)
    bus = try SessionBus(path: directory.file("bus"))
    // The name of an abstract socket. ModemManager recognizes such a name by this prefix.
    let port = "abstract:\(directory.path)"
    modem = try TestProcess.python(Self.modemProgram, [port])
    guard try modem.readLine() == "ready" else {
      throw SystemError(call: "starting the emulated modem", errno: ECHILD)
    }
    manager = try GuardedProcess(
      [
        Self.program, "--test-session", "--test-enable", "--test-no-udev",
        "--test-no-suspend-resume", "--test-no-qrtr",
      ], environment: bus.environment)
    try bus.wait(for: Self.name)
    let monitor = try TestProcess(
      "/usr/bin/gdbus", ["gdbus", "monitor", "--session", "--dest", Self.name]
    ) { [bus] in $0.environment = bus.environment }
    // The monitor prints the owner of the name once it receives the signals.
    try Self.wait(for: "is owned by", in: monitor)
    try call(
      at: Self.path, "\(Self.name).Test.SetProfile", "modem", "generic", "['\(port)']")
    try Self.wait(for: "InterfacesAdded (objectpath '\(Self.path)/Modem/0'", in: monitor)
    try call(at: modemPath, "\(Self.name).Modem.Enable", "true")
  }

  // ModemManager ends quickly only while it has its bus and its modem.
  deinit { manager.end() }

  private var modemPath: String { "\(Self.path)/Modem/0" }

  private static func wait(for text: String, in process: TestProcess) throws {
    while let line = try process.readLine() {
      if line.contains(text) { return }
    }
    throw SystemError(call: "waiting for ModemManager: \(text)", errno: ECHILD)
  }

  /// Ends ModemManager.
  public func end() { manager.end() }

  // MARK: Calls

  /// Begins a call from another phone, and waits until ModemManager has it.
  ///
  /// - Returns: the object path of the call.
  @discardableResult
  public func ring() throws -> String {
    let before = try callPaths()
    try run("ring")
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while BootClock.now() < end {
      let paths = try callPaths()
      if paths != before, let path = paths.first { return path }
    }
    throw SystemError(call: "waiting for a call", errno: ETIMEDOUT)
  }

  /// Answers the newest call, as a telephone application does.
  public func accept() throws { try callNewest("Accept") }

  /// Ends the newest call, as a telephone application does.
  public func hangUp() throws { try callNewest("Hangup") }

  /// Ends the call, as the other phone does. ModemManager may notice this two seconds later.
  public func endByOtherPhone() throws { try run("end") }

  private func callNewest(_ method: String) throws {
    guard let path = try callPaths().first else {
      throw SystemError(call: "\(method) of a call", errno: ENOENT)
    }
    try call(at: path, "\(Self.name).Call.\(method)")
  }

  /// Returns the object paths of the calls, the newest first. ModemManager keeps those of calls
  /// that have ended.
  private func callPaths() throws -> [String] {
    try call(at: modemPath, "\(Self.name).Modem.Voice.ListCalls").split(separator: "'")
      .filter { $0.hasPrefix("/") }.map(String.init)
  }

  private func run(_ command: String) throws {
    try modem.writeLine(command)
    guard try modem.readLine() == command else {
      throw SystemError(call: "emulated modem: \(command)", errno: ECHILD)
    }
  }

  @discardableResult
  private func call(at path: String, _ method: String, _ arguments: String...) throws -> String {
    try bus.run(
      "gdbus",
      ["call", "--session", "--dest", Self.name, "--object-path", path, "--method", method]
        + arguments)
  }

  /// The modem: a program that answers AT commands (3GPP TS 27.007) on an abstract socket. It has
  /// one call at most. To commands that a telephone does not need, it answers with an error.
  private static let modemProgram = #"""
    import select, socket, sys
    DONE = {
        "", "E0", "V1", "X4", "Z", "&C1", "H", "+CMEE=1", "+CFUN=1", "+CREG=2", "+COPS=3,0",
        "+COPS=3,2", "+CLIP=1", "+CRC=1", "+CCWA=1", "+CLCC=?",
    }
    VALUES = {
        "+GCAP": "+GCAP: +CGSM", "+CGMI": "Test", "+CGMM": "Modem", "+CGMR": "1",
        "+CGSN": "490154203237518", "+CIMI": "262019876543210", "+CPIN?": "+CPIN: READY",
        "+CFUN?": "+CFUN: 1", "+CSQ": "+CSQ: 20,99", "+CREG?": '+CREG: 2,1,"04D8","001122CC"',
        "+COPS?": '+COPS: 0,2,"26201",2',
        # The number of the SIM card. ModemManager asks again after a second if it gets none.
        "+CRSM=176,12258,0,0,10": '+CRSM: 144,0,"98942010325476981032"',
    }
    ANSWERED, RINGING = 0, 4
    NUMBER = '"+491234567",145'
    call = None
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0" + sys.argv[1])
    listener.listen()
    print("ready", flush=True)
    port, received = None, ""

    def send(*lines):
        port.sendall("".join(f"\r\n{line}\r\n" for line in lines).encode())

    def answer(command):
        global call
        if command in ("A", "+CHUP"):
            call = ANSWERED if command == "A" else None
        elif command == "+CLCC":
            if call is not None:
                send(f"+CLCC: 1,1,{call},0,0,{NUMBER}")
        else:
            for part in command.split(";"):
                if part in VALUES:
                    send(VALUES[part])
                elif part not in DONE:
                    return send("ERROR")
        send("OK")

    while True:
        # ModemManager connects once to recognize the modem, and again to use it.
        ready, _, _ = select.select([port or listener, sys.stdin], [], [])
        if listener in ready:
            port, received = listener.accept()[0], ""
        elif port in ready:
            data = port.recv(4096)
            if not data:
                port.close()
                port = None
            received += data.decode()
            while "\r" in received:
                command, received = received.split("\r", 1)
                answer(command.strip().removeprefix("AT"))
        if sys.stdin in ready:
            word = sys.stdin.readline().strip()
            if word == "ring":
                call = RINGING
                send("+CRING: VOICE", f"+CLIP: {NUMBER}")
            elif word == "end":
                call = None
                send("NO CARRIER")
            else:
                break
            print(word, flush=True)
    """#
}
