// Reminds the user of something at a place, even if this program does not run when the user
// arrives; see Places.swift.

import Glibc
import TaskSchedulerClient

let usage = """
  usage: places-example NAME=LATITUDE,LONGITUDE[,RADIUS]...
    NAME                 the name of a place, such as library
    LATITUDE, LONGITUDE  its center in degrees
    RADIUS               in meters; 150 if it is missing
  """
let regions = CommandLine.arguments.dropFirst().map { argument in
  guard let region = CircularRegion(argument: argument) else { fail(usage) }
  return region
}
if regions.isEmpty { fail(usage) }
do throws(ApplicationError) {
  // A process that the daemon launched for a region stays in the background.
  _ = try ScheduledApplication.registerAndWait("org.example.places", delegate: Places(regions))
} catch {
  fail("places-example: \(error)")
}
// The library calls the delegate on another thread.
while true { pause() }

extension CircularRegion {
  /// Parses an argument of the command line.
  fileprivate init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let numbers = parts[1].split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0)
    }
    guard 2...3 ~= numbers.count, let latitude = numbers[0], let longitude = numbers[1],
      let radius = numbers.count == 3 ? numbers[2] : 150
    else { return nil }
    self.init(
      identifier: String(parts[0]),
      center: LocationCoordinate(latitude: latitude, longitude: longitude), radius: radius)
  }
}

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
