// A navigator that speaks hints for a route, even while it is in the background; see
// Navigator.swift. Its manifest declares the background modes `location` and `audio`.

import Glibc
import TaskSchedulerClient

let usage = """
  usage: navigator-example ROUTE [COMMAND...]
    ROUTE    a file with a waypoint on each line: its latitude and longitude in degrees, and a
             hint, such as `52.5227 13.4099 turn right`. The last line is the destination
    COMMAND  a program that speaks, and its arguments, such as `espeak-ng -v en`; the hint is its
             last argument. Without it, a chime plays
  """
let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first, !path.hasPrefix("-") else { fail(usage) }
guard let route = Route(file: path) else { fail("navigator-example: \(path) is not a route") }
let voice = Voice(command: Array(arguments.dropFirst()))
// The program that plays the chime may end while the navigator writes to it. Without this line,
// SIGPIPE would then end the navigator, too.
signal(SIGPIPE, SIG_IGN)
do throws(ApplicationError) {
  _ = try ScheduledApplication.registerAndWait(
    "org.example.navigator", delegate: Navigator(route, voice: voice))
} catch {
  fail("navigator-example: \(error)")
}
// The library calls the delegate on another thread.
while true { pause() }

/// Prints a line without a buffer, so that it appears at once even in a pipe.
func say(_ text: String) { write(text, to: STDOUT_FILENO) }

/// Ends the program with a text on standard error.
func fail(_ text: String) -> Never {
  write(text, to: STDERR_FILENO)
  exit(2)
}

private func write(_ text: String, to number: Int32) {
  let line = Array((text + "\n").utf8)
  _ = Glibc.write(number, line, line.count)
}
