import Glibc
import LinuxSystem

/// The audio servers that the tests use.
public enum AudioServerKind: String, CaseIterable, Sendable {
  case pulseAudio = "PulseAudio"
  /// PipeWire with WirePlumber and pipewire-pulse.
  case pipeWire = "PipeWire"

  /// The kinds that this machine can run.
  public static let available = allCases.filter { $0.missing == nil }

  /// The reason why this machine cannot run the server; nil if it can.
  public var missing: String? {
    let programs =
      switch self {
      case .pulseAudio: ["pulseaudio", "pactl", "python3"]
      case .pipeWire:
        ["pipewire", "wireplumber", "pipewire-pulse", "pw-cat", "dbus-daemon", "pactl", "python3"]
      }
    return programs.first { access("/usr/bin/\($0)", X_OK) != 0 }
      .map { "there is no /usr/bin/\($0); `make test-setup` installs it" }
  }
}

/// A real audio server whose sinks discard all audio. It ends when the value is destroyed.
public final class AudioServer {
  public let kind: AudioServerKind
  private let directory: TemporaryDirectory
  private var processes: [GuardedProcess] = []

  /// The directory of the session's sockets (XDG_RUNTIME_DIR).
  public var runtime: String { directory.path }
  /// The path of the server's socket.
  public var path: String { "\(runtime)/pulse/native" }

  /// Creates the directories of a server, and starts the server unless `starts` is false.
  public init(_ kind: AudioServerKind, starts: Bool = true) throws {
    self.kind = kind
    directory = TemporaryDirectory(mode: 0o700)
    mkdir(directory.file("pulse"), 0o700)
    if kind == .pipeWire { writeConfiguration() }
    if starts { try start() }
  }

  deinit { end() }

  private func writeConfiguration() {
    let config = directory.file(".config")
    for name in ["", "/pipewire", "/pipewire/pipewire.conf.d", "/wireplumber"] {
      mkdir(config + name, 0o700)
    }
    directory.write(
      ".config/pipewire/pipewire.conf.d/null.conf",
      """
      context.objects = [ { factory = adapter args = {
        factory.name = support.null-audio-sink node.name = "null" media.class = Audio/Sink
        audio.position = [ FL FR ] object.linger = true } } ]
      """)
    for (folder, name) in [("bluetooth.lua.d", "bluez"), ("main.lua.d", "alsa")] {
      mkdir("\(config)/wireplumber/\(folder)", 0o700)
      directory.write(
        ".config/wireplumber/\(folder)/90-off.lua", "\(name)_monitor.enabled = false\n")
    }
  }

  /// Starts the server. Its clients may have to wait until it serves them.
  public func start() throws {
    let environment = [
      "PATH=/usr/bin:/bin", SystemString("HOME=\(runtime)"),
      SystemString("XDG_RUNTIME_DIR=\(runtime)"),
      SystemString("DBUS_SESSION_BUS_ADDRESS=unix:path=\(runtime)/bus"),
    ]
    func start(_ command: String...) throws {
      processes.append(try GuardedProcess(command, environment: environment))
    }
    switch kind {
    case .pulseAudio:
      // A killed server leaves its socket behind. Without a pid file, the next server would not
      // replace that socket.
      unlink(path)
      try start(
        "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
        "-L", "module-null-sink sink_name=null", "-L", "module-null-sink sink_name=second",
        "-L", "module-stream-restore",
        "-L", "module-native-protocol-unix socket=\(path)")
    case .pipeWire:
      unlink("\(runtime)/bus")
      try start(
        "dbus-daemon", "--session", "--address=unix:path=\(runtime)/bus", "--nofork",
        "--print-address=1")
      guard try processes.last?.readLine()?.hasPrefix("unix:") == true else {
        throw SystemError(call: "starting dbus-daemon", errno: ECHILD)
      }
      // WirePlumber exits if it cannot connect to PipeWire. When this initializer returns, clients
      // can connect to the socket of PipeWire.
      processes.append(
        try GuardedProcess(
          listeningAt: "\(runtime)/pipewire-0", ["/usr/bin/pipewire"], environment: environment))
      try start("wireplumber")
      try start("pipewire-pulse")
    }
  }

  /// Kills the server, to simulate a crash.
  public func kill() {
    for process in processes { process.send(signal: SIGKILL) }
    end()
  }

  /// Sends a signal to all processes of the server.
  public func send(signal: Int32) {
    for process in processes { process.send(signal: signal) }
  }

  public func end() {
    for process in processes.reversed() { process.end() }
    processes = []
  }

  /// Mutes a playback stream or ends the mute, as another client of the server could do.
  public func setMuted(_ stream: UInt32, _ isMuted: Bool) throws {
    try control(["set-sink-input-mute", "\(stream)", isMuted ? "1" : "0"])
  }

  public func setVolume(_ stream: UInt32, percent: Int) throws {
    try setVolumes(stream, percents: [percent])
  }

  /// Sets the volume of each channel of a playback stream. One percentage applies to all channels.
  public func setVolumes(_ stream: UInt32, percents: [Int]) throws {
    try control(["set-sink-input-volume", "\(stream)"] + percents.map { "\($0)%" })
  }

  /// Returns the volume of each channel of a playback stream; 65536 is 100 %. If the stream does
  /// not exist, the array is empty.
  public func channelVolumes(of stream: UInt32) throws -> [Int] {
    let process = try pactl(["list", "sink-inputs"])
    var isListed = false
    var volumes: [Int] = []
    while let line = try process.readLine() {
      if line.hasPrefix("Sink Input #") { isListed = line == "Sink Input #\(stream)" }
      // "Volume: front-left: 65536 / 100% / 0.00 dB,   front-right: 32768 /  50% / -18.06 dB"
      guard isListed, line.contains("Volume: ") else { continue }
      volumes = line.split(separator: ",").compactMap { channel in
        channel.split(separator: "/").first?.split(separator: " ").last.flatMap { Int($0) }
      }
    }
    return volumes
  }

  /// Makes the server manage streams by their roles, and returns the number of the module that it
  /// loads for this. PipeWire only appears to do so: its module is a sink with the name that
  /// WirePlumber's policy uses.
  public func beginRolePolicy() throws -> String {
    let module =
      switch kind {
      case .pulseAudio: ["module-role-ducking"]
      case .pipeWire: ["module-null-sink", "sink_name=input.loopback.sink.role.multimedia"]
      }
    guard let number = try pactl(["load-module"] + module).readLine() else {
      throw SystemError(call: "pactl load-module \(module[0])", errno: EINVAL)
    }
    return number
  }

  /// Unloads the module that ``beginRolePolicy()`` has loaded.
  public func endRolePolicy(_ module: String) throws { try control(["unload-module", module]) }

  /// Returns the playback streams that are muted.
  public func mutedStreams() throws -> [UInt32] {
    let process = try pactl(["list", "sink-inputs"])
    var muted: [UInt32] = []
    var stream: UInt32?
    while let line = try process.readLine() {
      if line.hasPrefix("Sink Input #") { stream = UInt32(line.dropFirst(12)) }
      if line.hasSuffix("Mute: yes"), let stream { muted.append(stream) }
    }
    return muted
  }

  private func control(_ arguments: [String]) throws {
    guard try pactl(arguments).waitForExit() == .exited(code: 0) else {
      throw SystemError(call: "pactl \(arguments.joined(separator: " "))", errno: EINVAL)
    }
  }

  private func pactl(_ arguments: [String]) throws -> TestProcess {
    try TestProcess("/usr/bin/pactl", ["pactl"] + arguments) {
      $0.environment = [
        "PATH=/usr/bin:/bin", SystemString("HOME=\(self.runtime)"),
        SystemString("PULSE_SERVER=unix:\(self.path)"),
      ]
    }
  }
}

/// A client of an audio server. It plays or records on the commands of the test. Until the command
/// `loud`, it plays silence.
public final class AudioClient {
  public let process: TestProcess

  public var pid: Int32 { process.pid }

  /// The program of the client. It connects to the server as soon as the server listens.
  public static let program = """
    import ctypes, select, sys
    pulse = ctypes.CDLL("libpulse.so.0")
    P = ctypes.c_void_p
    def function(name, result, *arguments):
        value = getattr(pulse, name)
        value.restype, value.argtypes = result, arguments
        return value
    REQUEST = ctypes.CFUNCTYPE(None, P, ctypes.c_size_t, P)
    NOTIFY = ctypes.CFUNCTYPE(None, P, P)
    class Spec(ctypes.Structure):
        _fields_ = [
            ("format", ctypes.c_int), ("rate", ctypes.c_uint32), ("channels", ctypes.c_uint8)]
    loop = function("pa_threaded_mainloop_new", P)()
    api = function("pa_threaded_mainloop_get_api", P, P)(loop)
    lock = function("pa_threaded_mainloop_lock", None, P)
    unlock = function("pa_threaded_mainloop_unlock", None, P)
    wait = function("pa_threaded_mainloop_wait", None, P)
    signal = function("pa_threaded_mainloop_signal", None, P, ctypes.c_int)
    function("pa_threaded_mainloop_start", ctypes.c_int, P)(loop)
    new_context = function("pa_context_new", P, P, ctypes.c_char_p)
    set_callback = function("pa_context_set_state_callback", None, P, NOTIFY, P)
    connect = function(
        "pa_context_connect", ctypes.c_int, P, ctypes.c_char_p, ctypes.c_int, P)
    get_state = function("pa_context_get_state", ctypes.c_int, P)
    changed = NOTIFY(lambda *_: signal(loop, 0))
    server = ("unix:" + sys.argv[1]).encode()
    def connected():
        lock(loop)
        context = new_context(api, sys.argv[2].encode())
        set_callback(context, changed, None)
        state = 5 if connect(context, server, 1, None) < 0 else get_state(context)
        while state < 4:
            wait(loop)
            state = get_state(context)
        unlock(loop)
        return context if state == 4 else None
    context = connected()
    while not context:
        select.select([], [], [], 0.01)
        context = connected()
    class Server(ctypes.Structure):
        _fields_ = [(name, ctypes.c_char_p) for name in ("user", "host", "version", "name")] + [
            ("spec", Spec), ("sink", ctypes.c_char_p)]
    ANSWER = ctypes.CFUNCTYPE(None, P, ctypes.POINTER(Server), P)
    get_server = function("pa_context_get_server_info", P, P, ANSWER, P)
    CHANGE = ctypes.CFUNCTYPE(None, P, ctypes.c_int, ctypes.c_uint32, P)
    on_change = function("pa_context_set_subscribe_callback", None, P, CHANGE, P)
    subscribe = function("pa_context_subscribe", P, P, ctypes.c_int, P, P)
    sink = None
    def answered(context, server, _):
        global sink
        sink = server.contents.sink if server else None
        signal(loop, 0)
    answered = ANSWER(answered)
    server_changed = CHANGE(lambda context, *_: get_server(context, answered, None))
    # A server may accept clients before it has a sink. When streams can be connected to the sink,
    # WirePlumber makes it the default sink, which is a change of the server (0x80).
    lock(loop)
    on_change(context, server_changed, None)
    subscribe(context, 0x80, None, None)
    get_server(context, answered, None)
    while sink != b"null":
        wait(loop)
    unlock(loop)
    spec = Spec(3, 44100, 2)
    new = function(
        "pa_stream_new_with_proplist", P, P, ctypes.c_char_p, ctypes.POINTER(Spec), P, P)
    properties = function("pa_proplist_new", P)()
    set_property = function(
        "pa_proplist_sets", ctypes.c_int, P, ctypes.c_char_p, ctypes.c_char_p)
    write = function(
        "pa_stream_write", ctypes.c_int, P, P, ctypes.c_size_t, P, ctypes.c_int64, ctypes.c_int)
    peek = function("pa_stream_peek", ctypes.c_int, P, P, P)
    drop = function("pa_stream_drop", ctypes.c_int, P)
    data, count = P(), ctypes.c_size_t()
    level = bytes(4)
    def wrote(stream, size, _):
        write(stream, (level * (size // 4 + 1))[:size], size, None, 0, 0)
    def read(stream, size, _):
        peek(stream, ctypes.byref(data), ctypes.byref(count))
        drop(stream)
    wrote, read = REQUEST(wrote), REQUEST(read)
    stream_state = function("pa_stream_get_state", ctypes.c_int, P)
    get_error = function("pa_context_errno", ctypes.c_int, P)
    on_state = function("pa_stream_set_state_callback", None, P, NOTIFY, P)
    on_write = function("pa_stream_set_write_callback", None, P, REQUEST, P)
    on_read = function("pa_stream_set_read_callback", None, P, REQUEST, P)
    play = function("pa_stream_connect_playback", ctypes.c_int, P, P, P, ctypes.c_int, P, P)
    record = function("pa_stream_connect_record", ctypes.c_int, P, P, P, ctypes.c_int)
    cork = function("pa_stream_cork", P, P, ctypes.c_int, P, P)
    disconnect = function("pa_stream_disconnect", ctypes.c_int, P)
    stream = None
    print("connected", flush=True)
    for line in sys.stdin:
        word = line.strip()
        lock(loop)
        if word in ("play", "begin", "record"):
            stream = new(context, b"music", ctypes.byref(spec), None, properties)
            on_state(stream, changed, None)
            if word != "begin":
                on_write(stream, wrote, None)
            on_read(stream, read, None)
            if word == "record":
                record(stream, None, None, 0)
            else:
                play(stream, None, None, 0, None, None)
            while stream_state(stream) < 2:
                wait(loop)
            if stream_state(stream) != 2:
                word = "failed with error %d of libpulse" % get_error(context)
        elif word.startswith("role "):
            set_property(properties, b"media.role", word[5:].encode())
        elif word == "pause":
            cork(stream, 1, None, None)
        elif word == "continue":
            cork(stream, 0, None, None)
        elif word in ("loud", "silent"):
            level = bytes((0, 32, 0, 32)) if word == "loud" else bytes(4)
        elif word == "end":
            disconnect(stream)
            while stream_state(stream) == 2:
                wait(loop)
        unlock(loop)
        print(word, flush=True)
    """

  /// Starts a client, and waits until it is connected.
  ///
  /// - Parameters:
  ///   - name: the name of the application. Servers remember mutes by this name.
  ///   - properties: additional properties that the client sends to the server.
  public init(
    of path: String, name: String = "player", properties: String = "",
    configure: (inout SpawnRequest) -> Void = { _ in }
  ) throws {
    // libpulse writes a file below HOME, which must not be the home directory of the user that
    // runs the test.
    let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
      .joined(separator: "/")
    process = try TestProcess.python(Self.program, [path, name]) {
      $0.environment = [
        "PATH=/usr/bin:/bin", SystemString("HOME=\(directory)"),
        SystemString("PULSE_PROP=\(properties)"),
      ]
      configure(&$0)
    }
    guard try process.readLine() == "connected" else {
      throw SystemError(call: "starting a client of \(path)", errno: ECHILD)
    }
  }

  /// Sends the client a command, and waits until the client has carried it out. The commands are
  /// play, begin (play without data), record, pause, continue, loud, silent and end. `role NAME`
  /// sets the property media.role of later streams.
  public func run(_ command: String) throws {
    try process.writeLine(command)
    let answer = try process.readLine()
    guard answer == command else {
      throw SystemError(call: "client: \(command): \(answer ?? "it ended")", errno: ECHILD)
    }
  }
}
