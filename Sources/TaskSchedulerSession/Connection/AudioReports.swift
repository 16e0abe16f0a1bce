/// Decides which report of the audio streams the daemon receives next.
///
/// A report contains all streams, so the newest one replaces those that were not sent.
/// ``AudioMonitor`` limits how often the streams change.
struct AudioReports {
  private var latest: AudioStreams?
  /// The streams of the last report; nil if the daemon knows nothing about the streams.
  private var reported: AudioStreams?

  mutating func update(_ streams: AudioStreams) { latest = streams }

  /// Begins a new attachment, in which the daemon has not received any report.
  mutating func attached() { reported = nil }

  /// Returns the report that must be sent now, and counts it as sent; nil if there is none.
  mutating func take() -> AudioStreams? {
    guard let latest, latest != reported else { return nil }
    reported = latest
    return latest
  }
}
