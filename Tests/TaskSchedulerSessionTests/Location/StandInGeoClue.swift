import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport

/// A program that owns the name of GeoClue, and sends the locations and errors that the test
/// requests. The program ends when this object is deallocated.
final class StandInGeoClue {
  /// How the program answers GetClient and Start, with which the agent begins to use GeoClue.
  enum Mode: String {
    case normal
    /// The program refuses GetClient.
    case refuseClient
    /// The program refuses Start.
    case refuseStart
    /// The program does not answer GetClient until ``answerClients()``.
    case hang
  }

  private let process: TestProcess

  /// The reason why this machine cannot run the program; nil if it can.
  static let missing: String? =
    SessionBus.missing
    ?? ((try? TestProcess.python("import dbus, gi").waitForExit()) == .exited(code: 0)
      ? nil : "Python has no module dbus or gi; `make test-setup` installs them")

  /// Starts the program, and waits until it is ready.
  ///
  /// - Parameter ownsName: Whether the program owns GeoClue's name.
  init(on bus: SessionBus, _ mode: Mode = .normal, ownsName: Bool = true) throws {
    process = try TestProcess.python(
      Self.program, [mode.rawValue, ownsName ? "own" : ""]
    ) { $0.environment = bus.environment }
    guard try process.readLine() == "ready" else {
      throw SystemError(call: "starting a stand-in for GeoClue", errno: ECHILD)
    }
  }

  /// Sends the client a location with these properties, in JSON, such as
  /// `"Latitude": 1, "Longitude": 2`. Python also reads the value `NaN`.
  func locate(_ properties: String) throws { try run("[\"locate\", {\(properties)}]") }

  func locate(_ latitude: Double, _ longitude: Double) throws {
    try locate("\"Latitude\": \(latitude), \"Longitude\": \(longitude)")
  }

  /// Sends locations at latitude 0. Their longitudes increase from 0 to 1.
  func flood(_ count: Int) throws { try run("[\"flood\", \(count)]") }

  /// Sends the signal of a new location whose object does not exist, as if GeoClue had removed it
  /// already.
  func sendRemovedLocation() throws { try run("[\"removed\"]") }

  /// Sends the agent a forged signal LocationUpdated, as if it came from another stand-in.
  ///
  /// - Parameters:
  ///   - client: the path of the other stand-in's client.
  ///   - name: the unique name of the agent, which owns the client.
  func spoof(client: String, of name: String) throws {
    try run("[\"spoof\", \"\(client)\", \"\(name)\"]")
  }

  /// Sends the signal that the property Active of the client has changed.
  func setActive(_ isActive: Bool) throws { try run("[\"active\", \(isActive)]") }

  /// Answers the calls of GetClient that wait.
  func answerClients() throws { try run("[\"answer\"]") }

  /// Returns the calls so far, such as `Start` and `Set RequestedAccuracyLevel 8`.
  func calls() throws -> [String] {
    try process.writeLine("[\"calls\"]")
    return (try process.readLine() ?? "").split(separator: ",").map(String.init)
  }

  /// Returns the path of the newest client, and the unique name of its owner.
  func client() throws -> (path: String, name: String) {
    try process.writeLine("[\"client\"]")
    let words = (try process.readLine() ?? "").split(separator: " ").map(String.init)
    guard words.count == 2 else { throw SystemError(call: "a client of GeoClue", errno: ENOENT) }
    return (words[0], words[1])
  }

  private func run(_ command: String) throws {
    try process.writeLine(command)
    guard try process.readLine() == "done" else {
      throw SystemError(call: "stand-in for GeoClue: \(command)", errno: ECHILD)
    }
  }

  /// Kills the program.
  func end() throws {
    _ = try process.pidfd.send(signal: SIGKILL)
    _ = try process.waitForExit()
  }

  private static let program = #"""
    import json, os, sys
    import dbus, dbus.bus, dbus.mainloop.glib
    from dbus.lowlevel import (
        HANDLER_RESULT_HANDLED, HANDLER_RESULT_NOT_YET_HANDLED, ErrorMessage, MethodCallMessage,
        MethodReturnMessage, SignalMessage)
    from gi.repository import GLib

    MODE, OWNS_NAME = sys.argv[1], sys.argv[2] == "own"
    SERVICE = "org.freedesktop.GeoClue2"
    calls, waiting, locations = [], [], {}
    client, owner, clients, located = None, None, 0, 0
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])

    def create(message):
        global client, owner, clients
        clients += 1
        client, owner = "/org/freedesktop/GeoClue2/Client/%d" % clients, message.get_sender()
        answer = MethodReturnMessage(message)
        answer.append(dbus.ObjectPath(client))
        bus.send_message(answer)

    def refuse(message, text):
        name = "org.freedesktop.DBus.Error.AccessDenied"
        bus.send_message(ErrorMessage(message, name, text))

    def serve(message):
        member, arguments = message.get_member(), message.get_args_list()
        if member == "GetAll":
            calls.append("GetAll")
            properties = locations.get(message.get_path())
            if properties is None:
                text = "no such location"
                return bus.send_message(
                    ErrorMessage(message, "org.freedesktop.DBus.Error.UnknownObject", text))
            answer = MethodReturnMessage(message)
            answer.append(properties, signature="a{sv}")
            return bus.send_message(answer)
        is_set = member == "Set"
        calls.append("Set %s %s" % (arguments[1], arguments[2]) if is_set else member)
        if member == "GetClient":
            if MODE == "hang":
                waiting.append(message)
            elif MODE == "refuseClient":
                refuse(message, "no client")
            else:
                create(message)
        elif member == "Start" and MODE == "refuseStart":
            refuse(message, "no agent")
        elif not message.get_no_reply():
            bus.send_message(MethodReturnMessage(message))

    def handle(connection, message):
        if not isinstance(message, MethodCallMessage):
            return HANDLER_RESULT_NOT_YET_HANDLED
        serve(message)
        return HANDLER_RESULT_HANDLED

    def updated(old, new):
        signal = SignalMessage(client, SERVICE + ".Client", "LocationUpdated")
        signal.append(dbus.ObjectPath(old), dbus.ObjectPath(new))
        signal.set_destination(owner)
        bus.send_message(signal)

    def values(properties):
        result = {}
        for name, value in properties.items():
            if name == "Timestamp":
                result[name] = dbus.Struct([dbus.UInt64(number) for number in value])
            elif isinstance(value, str):
                result[name] = value
            else:
                result[name] = dbus.Double(value)
        return result

    def locate(properties):
        global located
        located += 1
        path = "%s/Location/%d" % (client, located)
        locations[path] = values(properties)
        updated("/", path)

    def run(command, *arguments):
        global client, owner
        if command == "locate":
            locate(*arguments)
        elif command == "flood":
            for number in range(arguments[0]):
                locate({"Latitude": 0.0, "Longitude": (number + 1) / arguments[0]})
        elif command == "removed":
            updated("/", client + "/Location/0")
        elif command == "spoof":
            client, owner = arguments
            locate({"Latitude": 1.0, "Longitude": 1.0})
        elif command == "active":
            properties = "org.freedesktop.DBus.Properties"
            signal = SignalMessage(client, properties, "PropertiesChanged")
            signal.append(SERVICE + ".Client", {"Active": arguments[0]}, [], signature="sa{sv}as")
            bus.send_message(signal)
        elif command == "answer":
            for message in waiting:
                create(message)
            waiting.clear()
        bus.flush()
        if command == "calls":
            return ",".join(calls)
        if command == "client":
            return "%s %s" % (client, owner)
        return "done"

    def read(*_):
        line = sys.stdin.readline()
        if not line:
            os._exit(0)
        print(run(*json.loads(line)), flush=True)
        return True

    bus.add_message_filter(handle)
    if OWNS_NAME:
        bus.request_name(SERVICE)
    GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, read)
    print("ready", flush=True)
    GLib.MainLoop().run()
    """#
}
