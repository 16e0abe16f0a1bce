import Glibc
import LinuxSystem
import TestSupport

/// A program that owns the name of ModemManager, with one modem and the calls that a test adds. It
/// sends the signals that the test requests, and ends when this object is deallocated.
final class StandInModemManager {
  static let modem = "/org/freedesktop/ModemManager1/Modem/0"
  static let voice = "org.freedesktop.ModemManager1.Modem.Voice"
  static let objects = "org.freedesktop.DBus.ObjectManager"
  private let process: TestProcess

  /// The reason why this machine cannot run the program; nil if it can.
  static let missing: String? =
    SessionBus.missing
    ?? ((try? TestProcess.python("import dbus, gi").waitForExit()) == .exited(code: 0)
      ? nil : "Python has no module dbus or gi; `make test-setup` installs them")

  static func call(_ number: Int) -> String { "/org/freedesktop/ModemManager1/Call/\(number)" }

  /// Starts the program, and waits until it is ready.
  ///
  /// - Parameters:
  ///   - name: the name that the program owns; nil for none.
  ///   - isHanging: whether the program sends no reply to any method call.
  init(
    on bus: SessionBus, name: String? = "org.freedesktop.ModemManager1", isHanging: Bool = false
  ) throws {
    let process = try TestProcess.python(Self.program, [name ?? "", isHanging ? "hang" : ""]) {
      $0.environment = bus.environment
    }
    guard try process.readLine() == "ready" else {
      throw SystemError(call: "starting a stand-in for ModemManager", errno: ECHILD)
    }
    self.process = process
  }

  /// Sets the state of a call, or removes the call, without a signal.
  func set(_ call: Int, _ state: Int?) throws {
    try set(Self.call(call), state)
  }

  func set(_ path: String, _ state: Int?) throws {
    try run(#"["set", "\#(path)", \#(state.map { "\($0)" } ?? "null")]"#)
  }

  /// Changes the state of a call, with a signal.
  func change(_ call: Int, to state: Int) throws {
    try set(call, state)
    try signalState(of: call, state)
  }

  /// Sends the signal that reports the state of a call.
  func signalState(of call: Int, _ state: Int) throws {
    try signal(
      Self.call(call), "org.freedesktop.ModemManager1.Call", "StateChanged", "iiu",
      "0, \(state), 0")
  }

  /// Adds a call, with a signal.
  func add(_ call: Int, _ state: Int) throws {
    try add(Self.call(call), state)
  }

  func add(_ path: String, _ state: Int) throws {
    try set(path, state)
    try signal(Self.modem, Self.voice, "CallAdded", "o", "\"\(path)\"")
  }

  /// Sets the number and the direction of a call. If `withSignal` is true, the program also sends
  /// the signal that the number has changed.
  func describe(
    _ call: Int, number: String, isOutgoing: Bool = false, withSignal: Bool = false
  ) throws {
    try run(#"["describe", "\#(Self.call(call))", "\#(number)", \#(isOutgoing ? 2 : 1)]"#)
    guard withSignal else { return }
    try run(#"["number", "\#(Self.call(call))", "\#(number)"]"#)
  }

  /// Makes the program refuse each answer to a phone call.
  func refuseAnswers() throws { try run(#"["refuse"]"#) }

  /// Returns the next answer to a phone call that the program has received: the name of the method,
  /// and the last component of the object's path.
  func nextAnswer() throws -> String {
    try process.writeLine(#"["answer"]"#)
    return try process.readLine() ?? ""
  }

  /// Removes a call, with a signal.
  func delete(_ call: Int) throws {
    try set(call, nil)
    try signal(Self.modem, Self.voice, "CallDeleted", "o", "\"\(Self.call(call))\"")
  }

  /// Removes the modem, or adds it again, with a signal.
  func setModem(isPresent: Bool) throws {
    try run(#"["modem", \#(isPresent)]"#)
    let path = "/org/freedesktop/ModemManager1"
    if isPresent {
      try signal(
        path, Self.objects, "InterfacesAdded", "oa{sa{sv}}",
        #""\#(Self.modem)", {"\#(Self.voice)": {}}"#)
    } else {
      try signal(
        path, Self.objects, "InterfacesRemoved", "oas", #""\#(Self.modem)", ["\#(Self.voice)"]"#)
    }
  }

  /// Sends a signal.
  ///
  /// - Parameter arguments: the elements of an array in JSON.
  func signal(
    _ path: String, _ interface: String, _ member: String, _ signature: String, _ arguments: String
  ) throws {
    try run(
      #"["signal", "\#(path)", "\#(interface)", "\#(member)", "\#(signature)", [\#(arguments)]]"#)
  }

  private func run(_ command: String) throws {
    try process.writeLine(command)
    guard try process.readLine() == "done" else {
      throw SystemError(call: "stand-in for ModemManager: \(command)", errno: ECHILD)
    }
  }

  /// Ends the program.
  func end() throws {
    _ = try process.pidfd.send(signal: SIGKILL)
    _ = try process.waitForExit()
  }

  private static let program = #"""
    import json, os, queue, sys, threading
    import dbus, dbus.bus, dbus.mainloop.glib
    from dbus.lowlevel import (
        HANDLER_RESULT_HANDLED, HANDLER_RESULT_NOT_YET_HANDLED, ErrorMessage, MethodCallMessage,
        MethodReturnMessage, SignalMessage)
    from gi.repository import GLib

    NAME, HANGS = sys.argv[1], sys.argv[2] == "hang"
    MODEM = "/org/freedesktop/ModemManager1/Modem/0"
    calls, has_modem, refuses = {}, True, False
    descriptions, answers = {}, queue.Queue()
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])

    def reply(message):
        answer = MethodReturnMessage(message)
        path, member = message.get_path(), message.get_member()
        if member == "GetManagedObjects":
            sim = {"org.freedesktop.ModemManager1.Sim": {"Active": True}}
            modem = {"org.freedesktop.ModemManager1.Modem": {"State": 8, "Ports": ["a", "b"]},
                     "org.freedesktop.ModemManager1.Modem.Voice": {"EmergencyOnly": False}}
            objects = {"/sim": sim}
            if has_modem:
                objects[MODEM] = modem
            answer.append(objects, signature="a{oa{sa{sv}}}")
        elif member == "ListCalls" and path == MODEM and has_modem:
            answer.append(list(reversed(calls)), signature="ao")
        elif member == "GetAll" and path in calls:
            number, direction = descriptions.get(path, ("", 1))
            properties = {"State": dbus.Int32(calls[path]), "Direction": dbus.Int32(direction),
                          "Number": number, "Multiparty": False}
            answer.append(properties, signature="a{sv}")
        elif member in ("Accept", "Hangup", "HoldAndAccept"):
            answers.put(member + " " + path.split("/")[-1])
            if refuses:
                return ErrorMessage(message, "org.freedesktop.ModemManager1.Error.Core.Failed",
                                    "the modem refuses")
        else:
            return ErrorMessage(message, "org.freedesktop.DBus.Error.UnknownMethod", member)
        return answer

    def handle(connection, message):
        if not isinstance(message, MethodCallMessage):
            return HANDLER_RESULT_NOT_YET_HANDLED
        if not HANGS:
            connection.send_message(reply(message))
        return HANDLER_RESULT_HANDLED

    def run(kind, *arguments):
        global has_modem, refuses
        if kind == "set":
            path, state = arguments
            calls.pop(path, None)
            if state is not None:
                calls[path] = state
        elif kind == "modem":
            has_modem, = arguments
        elif kind == "describe":
            path, number, direction = arguments
            descriptions[path] = (number, direction)
        elif kind == "number":
            path, number = arguments
            signal = SignalMessage(path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
            signal.append("org.freedesktop.ModemManager1.Call", {"Number": number}, [],
                          signature="sa{sv}as")
            bus.send_message(signal)
            bus.flush()
        elif kind == "refuse":
            refuses = True
        elif kind == "signal":
            path, interface, member, signature, values = arguments
            signal = SignalMessage(path, interface, member)
            signal.append(*values, signature=signature)
            bus.send_message(signal)
            bus.flush()

    def read(*_):
        line = sys.stdin.readline()
        if not line:
            os._exit(0)
        command = json.loads(line)
        if command == ["answer"]:
            # This thread waits, so that the main thread can receive the answer.
            threading.Thread(target=lambda: print(answers.get(), flush=True)).start()
            return True
        run(*command)
        print("done", flush=True)
        return True

    bus.add_message_filter(handle)
    if NAME:
        bus.request_name(NAME)
    GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, read)
    print("ready", flush=True)
    GLib.MainLoop().run()
    """#
}
