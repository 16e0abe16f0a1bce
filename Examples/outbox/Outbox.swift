import Glibc
import ServiceLifecycle
import TaskSchedulerClient

/// Sends letters, one every 200 ms, also in the background while the daemon grants time.
///
/// The daemon's `willTerminate` is a graceful shutdown: the outbox finishes the current letter.
struct Outbox: Service {
  let application: ScheduledApplication
  let count: Int

  func run() async throws {
    try await application.withBackgroundTask(named: "send the outbox") {
      for letter in 1...count {
        if Task.isShuttingDownGracefully { break }
        try await Task.sleep(for: .milliseconds(200))
        say("letter \(letter) is sent")
      }
    }
    say("the outbox is closed")
    try await gracefulShutdown()
  }
}

/// Prints a line at once, also to a pipe.
func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}
