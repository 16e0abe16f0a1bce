import Dispatch
import Glibc

/// Speaks hints, one after the other, with a child process. The daemon attributes the audio stream
/// of the child process to the navigator, so the navigator's audio session applies to the stream.
final class Voice: Sendable {
  private static let samplesPerSecond = 44_100

  private let command: [String]
  private let queue = DispatchQueue(label: "voice")

  /// - Parameter command: a program and its arguments. The hint is added as the last argument. If
  ///   the array is empty, a chime plays instead.
  init(command: [String]) {
    self.command = command
  }

  /// Speaks a hint after the previous ones. Returns at once.
  func speak(_ hint: String) {
    queue.async { [self] in
      if command.isEmpty { playChime() } else { run(command + [hint], input: []) }
    }
  }

  /// Waits until all hints have been spoken.
  func waitUntilSilent() { queue.sync {} }

  private func playChime() {
    run(
      [
        "pacat", "--playback", "--raw", "--format=s16le", "--channels=1",
        "--rate=\(Self.samplesPerSecond)", "--latency-msec=100",
      ], input: Self.tone(hertz: 660) + Self.tone(hertz: 880))
  }

  /// Returns a tone of 0.3 s.
  private static func tone(hertz: Int) -> [Int16] {
    let radians = 2 * Double.pi * Double(hertz) / Double(samplesPerSecond)
    return (0..<samplesPerSecond * 3 / 10).map { Int16(6000 * sin(radians * Double($0))) }
  }

  /// Runs a program to its end.
  private func run(_ command: [String], input: [Int16]) {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return say("no sound: no socket") }
    let pid = Self.start(command, reading: ends[0])
    close(ends[0])
    // If the program ends early, the write fails instead of blocking.
    input.withUnsafeBytes { _ = write(ends[1], $0.baseAddress, $0.count) }
    close(ends[1])
    guard let pid else { return say("no sound: cannot run \(command[0])") }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    if status != 0 { say("no sound: \(command[0]) failed") }
  }

  private static func start(_ command: [String], reading input: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    let arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    return posix_spawnp(&pid, command[0], &actions, nil, arguments, environ) == 0 ? pid : nil
  }
}
