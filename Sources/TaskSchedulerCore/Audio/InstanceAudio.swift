// The audio of one instance, and the streams that the daemon mutes.
//
// The problem: an audio server plays what a stopped application has buffered, up to 2 s. The daemon
// therefore mutes the streams of an application that it suspends, and must undo this later. The
// agent that carries out the orders may die, a stream may end while it is muted, and the server
// remembers the mute for the next stream of the same application.
//
// The idea: each muted stream is in one of two lists. `muted` lists the streams that must be muted,
// because the instance is suspended. `restoring` lists the streams that must be unmuted. A stream
// leaves `restoring` only when a report shows it unmuted. A stream that disappears from the reports
// may have ended muted, so the next stream of the application is unmuted in its place.
//
// Why this is right: the lists follow from the events in the event log, so that they survive the
// daemon. A new agent receives both lists again. Muting or unmuting a stream twice does no harm.

/// The audio of one instance, as a session agent reports it.
struct InstanceAudio: Equatable, Sendable {
  /// The streams of the last report, ordered by their ids.
  private(set) var streams: [AudioStream] = []
  /// The end of `AudioGraceTime`; nil if the instance is audible or records, and after that time.
  private(set) var graceEnds: Instant?
  /// The streams that the daemon has muted, ordered by their ids.
  private(set) var muted: [AudioStreamID] = []
  /// The streams whose mute the daemon is ending, ordered by their ids.
  private(set) var restoring: [AudioStreamID] = []

  var isAudible: Bool { streams.contains { $0.isAudible } }
  var isRecording: Bool { streams.contains { $0.isRecording } }
  var isInUse: Bool { streams.contains { $0.isAudible || $0.isRecording } }
  /// Whether the value contains nothing that the scheduler must remember.
  var isEmpty: Bool {
    streams.isEmpty && graceEnds == nil && muted.isEmpty && restoring.isEmpty
  }
  /// The streams that are muted, or may still be muted, because of the daemon.
  var changed: [AudioStreamID] { (muted + restoring).sorted() }
  var use: AudioUse {
    AudioUse(isAudible: isAudible, isRecording: isRecording, isMuted: !muted.isEmpty)
  }

  /// Takes a report of all streams of the user.
  ///
  /// - Returns: Whether a stream that the daemon had muted has ended.
  mutating func take(_ own: [AudioStream], _ all: [AudioStreamID: AudioStream]) -> Bool {
    streams = own
    let count = muted.count + restoring.count
    muted.removeAll { all[$0] == nil }
    restoring.removeAll { all[$0] == nil }
    let isOneGone = muted.count + restoring.count < count
    restoring.removeAll { all[$0]?.isMuted == false }
    return isOneGone
  }

  /// Discards the reports of an agent that was lost.
  mutating func forgetReports() {
    streams = []
    graceEnds = nil
  }

  mutating func setGrace(until end: Instant?) { graceEnds = end }

  /// Lists the streams to mute, because the instance is about to be suspended: those that are
  /// audible, and those whose mute the daemon is ending.
  mutating func mute() -> [AudioStreamID] {
    let audible = streams.lazy.filter(\.isAudible).map(\.id)
    let fresh = Set(audible).union(restoring).subtracting(muted).sorted()
    if fresh.isEmpty { return [] }
    muted = (muted + fresh).sorted()
    restoring = []
    return fresh
  }

  /// Lists the streams to unmute, because the instance runs again.
  mutating func unmute() -> [AudioStreamID] {
    let ended = muted
    restoring = (restoring + ended).sorted()
    muted = []
    return ended
  }

  /// Adds a stream that began muted because the server remembers the mute of an earlier stream.
  mutating func restore(_ stream: AudioStreamID) {
    if !muted.contains(stream), !restoring.contains(stream) {
      restoring = (restoring + [stream]).sorted()
    }
  }

  func check() throws(InvariantViolation) {
    try require(Self.isOrdered(streams.map(\.id)), "the streams of an instance are not in order")
    try require(
      Self.isOrdered(changed), "a muted stream of an instance is listed twice")
  }

  private static func isOrdered(_ ids: [AudioStreamID]) -> Bool {
    zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
  }
}

/// What the scheduler knows about the audio server of one user.
struct SessionAudio: Equatable, Sendable {
  /// The agent that reports the streams; nil if nothing is known about the streams.
  var agent: SessionAgent?
  /// The streams of ended instances that must be unmuted, and their applications.
  var restoring: [AudioStreamID: ApplicationKey] = [:]
}

/// An order about the streams of a user's audio server.
public enum AudioEffect: Equatable, Sendable {
  case mute(UserID, [AudioStreamID])
  case unmute(UserID, [AudioStreamID])
}
