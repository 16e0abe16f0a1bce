"""Simulates a GeoClue agent, which permits programs to receive the location, and a GNSS receiver,
which sends NMEA 0183 sentences to a Unix socket.

Arguments: the path of the socket; the number of the highest accuracy level that the agent permits,
or "absent" for no agent. Reads commands in JSON from standard input, and answers each with a line.
"""

import json, os, socket, sys, time
import dbus, dbus.bus, dbus.lowlevel, dbus.mainloop.glib
from gi.repository import GLib

SERVICE = "org.freedesktop.GeoClue2"
MANAGER = "/org/freedesktop/GeoClue2/Manager"
AGENT = "/org/freedesktop/GeoClue2/Agent"
# geoclue.conf must permit this name.
NAME = "taskschedd-test"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
level = None
readers = []
sentence = b""


def answer(message):
    reply = dbus.lowlevel.MethodReturnMessage(message)
    member, arguments = message.get_member(), message.get_args_list()
    if member == "AuthorizeApp":
        reply.append(True, dbus.UInt32(min(arguments[1], level)), signature="bu")
    elif member == "Get":
        reply.append(dbus.UInt32(level), signature="v")
    elif member == "GetAll":
        reply.append({"MaxAccuracyLevel": dbus.UInt32(level)}, signature="a{sv}")
    return reply


def handle(connection, message):
    if not isinstance(message, dbus.lowlevel.MethodCallMessage) or message.get_path() != AGENT:
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
    connection.send_message(answer(message))
    return dbus.lowlevel.HANDLER_RESULT_HANDLED


def add_agent():
    """Makes this program the user's agent in the running GeoClue, which calls the program back."""
    call = dbus.lowlevel.MethodCallMessage(SERVICE, MANAGER, SERVICE + ".Manager", "AddAgent")
    call.append(NAME, signature="s")
    call.set_auto_start(False)
    bus.send_message_with_reply(call, lambda reply: None)


def owner_changed(name):
    if name and level is not None:
        add_agent()


def set_level(new):
    global level
    is_new, level = level is None, new
    if is_new:
        return bus.watch_name_owner(SERVICE, owner_changed)
    signal = dbus.lowlevel.SignalMessage(AGENT, dbus.PROPERTIES_IFACE, "PropertiesChanged")
    changed = {"MaxAccuracyLevel": dbus.UInt32(level)}
    signal.append(SERVICE + ".Agent", changed, [], signature="sa{sv}as")
    bus.send_message(signal)
    bus.flush()


def coordinate(degrees, width, positive, negative):
    whole, minutes = divmod(abs(degrees) * 60, 60)
    return "%0*d%07.4f,%s" % (width, whole, minutes, positive if degrees >= 0 else negative)


def set_position(latitude, longitude, hdop, altitude):
    """Sends the position to GeoClue, now and whenever GeoClue connects."""
    global sentence
    fields = [
        time.strftime("%H%M%S", time.gmtime()), coordinate(latitude, 2, "N", "S"),
        coordinate(longitude, 3, "E", "W"), "1,08", str(hdop), "%.1f,M,,M,," % altitude]
    text = "GPGGA," + ",".join(fields)
    checksum = 0
    for byte in text.encode():
        checksum ^= byte
    sentence = b"$%s*%02X\r\n" % (text.encode(), checksum)
    for reader in readers:
        reader.sendall(sentence)


def accept(*_):
    reader, _ = listener.accept()
    readers.append(reader)
    GLib.io_add_watch(reader.fileno(), GLib.IO_IN | GLib.IO_HUP, end, reader)
    if sentence:
        reader.sendall(sentence)
    return True


def end(_, condition, reader):
    # GeoClue sends nothing, so this is the end of the connection.
    readers.remove(reader)
    reader.close()
    return False


def read(*_):
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    command, *arguments = json.loads(line)
    result = "done"
    if command == "position":
        set_position(*arguments)
    elif command == "level":
        set_level(*arguments)
    elif command == "receiving":
        result = json.dumps(bool(readers))
    print(result, flush=True)
    return True


bus.add_message_filter(handle)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
GLib.io_add_watch(listener.fileno(), GLib.IO_IN, accept)
GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, read)
if sys.argv[2] != "absent":
    set_level(int(sys.argv[2]))
print("ready", flush=True)
GLib.MainLoop().run()
