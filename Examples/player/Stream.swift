import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// An audio stream, which the child process pacat plays. To pause, call `end()`: a stream without
/// data would still count as playing.
final class Stream: Sendable {
  /// The process; nil after its end.
  private let process: Mutex<pid_t?>
  private let queue = DispatchQueue(label: "stream")

  /// Begins to play.
  ///
  /// - Parameter onLoss: called on another thread after the end of the stream.
  init(of playlist: Playlist, onLoss: @escaping @Sendable (Stream) -> Void) {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { fail("player-example: no socket") }
    let (reading, writing) = (ends[0], ends[1])
    // With a larger buffer, the position would be further ahead of the audible sound.
    var size: Int32 = 4096
    setsockopt(writing, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    process = Mutex(Self.startPacat(reading: reading))
    close(reading)
    queue.async { [self] in
      feed(writing, from: playlist)
      onLoss(self)
    }
  }

  /// Ends the stream. The audio server discards the samples that it has not played yet.
  func end() {
    process.withLock { if let pid = $0 { _ = kill(pid, SIGKILL) } }
    // Waits until no more samples are read from the playlist.
    queue.sync {}
  }

  private static func startPacat(reading input: Int32) -> pid_t {
    let command = [
      "pacat", "--playback", "--raw", "--format=s16le", "--channels=1",
      "--rate=\(Track.samplesPerSecond)", "--latency-msec=100", "--property=media.role=music",
    ]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    let arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    guard posix_spawnp(&pid, command[0], &actions, nil, arguments, environ) == 0 else {
      fail("player-example: cannot run pacat")
    }
    return pid
  }

  /// Passes samples to pacat until pacat ends or the playlist has no more samples.
  private func feed(_ output: Int32, from playlist: Playlist) {
    while true {
      let bytes = playlist.next(Track.samplesPerSecond / 50)
      let written = bytes.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
      if written <= 0 { break }
    }
    close(output)
    process.withLock { pid in
      if let pid { waitpid(pid, nil, 0) }
      pid = nil
    }
  }
}
