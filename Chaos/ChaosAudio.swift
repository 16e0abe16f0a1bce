import Glibc
import LinuxSystem

/// A PulseAudio server without a sound device. It runs in the session of the campaign's desktop.
struct ChaosAudio: ~Copyable {
  let process: PIDFD

  private static let socket = Settings.session + "/pulse/native"
  private static let listing = Settings.session + "/streams"

  /// Starts a server, and waits until it answers.
  init() throws {
    // A killed server leaves its socket behind.
    try Self.must("mkdir -p \(Settings.session)/pulse && rm -f \(Self.socket)")
    let server = try ChaosCompositor.startInSession([
      "/usr/bin/pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
      "-L", "module-null-sink sink_name=null", "-L", "module-stream-restore",
      "-L", "module-native-protocol-unix socket=\(Self.socket)",
    ])
    let end = BootClock.now() + 20_000_000_000
    while try Self.run("pactl info >/dev/null 2>&1") != .ended(.exited(code: 0)) {
      guard BootClock.now() < end else { throw Failure(sentence: "waited 20 s for PulseAudio") }
      _ = poll(nil, 0, 5)
    }
    process = server
  }

  struct Stream {
    var isMuted = false
    /// Whether the volume is below 100 %. Each stream begins with a volume of 100 %.
    var isLowered = false
  }

  /// Returns the stream of each player, by the player's name.
  func streams() throws -> [String: Stream] {
    try Self.must("pactl list sink-inputs >\(Self.listing)")
    var streams: [String: Stream] = [:]
    var stream = Stream()
    for line in (Files.text(Self.listing) ?? "").split(separator: "\n") {
      if line.hasPrefix("\tMute: ") { stream.isMuted = line.hasSuffix("yes") }
      if line.hasPrefix("\tVolume: ") { stream.isLowered = !line.contains(" 100% ") }
      let name = "\t\tapplication.name = \""
      if line.hasPrefix(name) { streams[String(line.dropFirst(name.count).dropLast())] = stream }
    }
    return streams
  }

  private static func must(_ script: String) throws {
    guard try run(script) == .ended(.exited(code: 0)) else {
      throw Failure(sentence: "failed: \(script)")
    }
  }

  private static func run(_ script: String) throws -> ChildChange? {
    try ChaosCompositor.startInSession(["/bin/sh", "-c", script]).wait()
  }
}
