// A music player that plays on in the background, and is suspended while it is paused; see
// Player.swift. Its manifest declares the background mode `audio`.

import Glibc
import TaskSchedulerClient

let usage = """
  usage: player-example STATE [FILE...]
    STATE  the file that keeps the position until the next launch
    FILE   music as signed 16-bit numbers, mono, 44100 Hz; without files, three tones play.
           `ffmpeg -i song.ogg -f s16le -ac 1 -ar 44100 FILE` writes such a file
  """
let arguments = CommandLine.arguments.dropFirst()
guard let store = arguments.first, !store.hasPrefix("-") else { fail(usage) }
// pacat may end while the player writes to it. Without this line, SIGPIPE would then end the
// player, too.
signal(SIGPIPE, SIG_IGN)
let files = arguments.dropFirst().map(Track.file)
let tracks = files.isEmpty ? [440, 550, 660].map(Track.tone) : files
let player = Player(Playlist(tracks, keptIn: store))
do throws(ApplicationError) {
  // Without a daemon, the program plays like any other player.
  _ = try ScheduledApplication.registerAndWait(
    "org.example.player", delegate: player, ifAvailable: true)
} catch {
  fail("player-example: \(error)")
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
