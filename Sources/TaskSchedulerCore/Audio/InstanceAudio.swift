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
  var silence = AudioSilence()
  /// The instant since which the user is shown that the instance records; nil if it is not shown.
  var noticedAt: Instant?
  /// The interruption of the audio; nil if there is none.
  var interrupted: InterruptedAudio?
  /// Whether the application has a phone call.
  var isInCall = false

  var isAudible: Bool { streams.contains { $0.isAudible } }
  var isRecording: Bool { streams.contains { $0.isRecording } }
  /// Whether the instance records, or is audible and not silent for `AudioSilenceTime`.
  var isInUse: Bool { isRecording || isAudible && !silence.isLong }
  /// Whether the value contains nothing that the scheduler must remember.
  var isEmpty: Bool {
    streams.isEmpty && graceEnds == nil && muted.isEmpty && restoring.isEmpty
      && silence == AudioSilence() && noticedAt == nil && interrupted == nil && !isInCall
  }
  /// The streams that are muted, or may still be muted, because of the daemon.
  var changed: [AudioStreamID] { (muted + restoring).sorted() }
  var use: AudioUse {
    AudioUse(
      isAudible: isAudible, isRecording: isRecording, isMuted: !muted.isEmpty,
      isInterrupted: interrupted != nil, isInCall: isInCall)
  }

  /// Takes a report of all streams of the user.
  ///
  /// - Returns: Whether a stream that the daemon had muted has ended.
  mutating func take(_ own: [AudioStream], _ all: [AudioStreamID: AudioStream]) -> Bool {
    // A stream that begins to play may be loud, so it ends the silence.
    let audible = Set(streams.lazy.filter(\.isAudible).map(\.id))
    if own.contains(where: { $0.isAudible && !audible.contains($0.id) }) { silence.end() }
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
    silence = AudioSilence()
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
      silence.since == nil || !silence.measured.isEmpty,
      "an instance is silent, but its streams are not measured")
    try require(
      Self.isOrdered(changed), "a muted stream of an instance is listed twice")
  }

  private static func isOrdered(_ ids: [AudioStreamID]) -> Bool {
    zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
  }
}

/// How long an instance has played only silence (contract.md#audio-silence).
///
/// To measure a stream wakes the agent once a second. The agent therefore measures only the streams
/// of instances in the background that nothing but their audible streams entitles to run.
struct AudioSilence: Equatable, Sendable {
  /// The streams that the agent must measure, ordered by their ids.
  private(set) var measured: [AudioStreamID] = []
  /// The instant since which all of them are silent; nil if one of them is loud.
  private(set) var since: Instant?
  /// Whether the silence has lasted for `AudioSilenceTime`. The instance then counts as paused,
  /// until one of its streams begins to play or it leaves the background.
  private(set) var isLong = false

  /// Sets the streams to measure, and whether all of them are silent.
  ///
  /// - Returns: The streams that the agent must begin to measure, and those that it must not
  ///   measure any longer.
  mutating func measure(
    _ streams: [AudioStreamID], areSilent: Bool, at now: Instant
  ) -> (begin: [AudioStreamID], end: [AudioStreamID]) {
    let begin = streams.filter { !measured.contains($0) }
    let end = measured.filter { !streams.contains($0) }
    measured = streams
    since = areSilent && !streams.isEmpty ? since ?? now : nil
    return (begin, end)
  }

  /// The instant at which the instance no longer counts as playing; nil if it is not silent.
  func due(_ policy: SharedPolicy) -> Instant? {
    since?.advanced(by: policy.audioSilenceTime)
  }

  /// Starts `AudioSilenceTime` again.
  mutating func restart(at now: Instant) { if since != nil { since = now } }

  mutating func becomeLong() { isLong = true }

  /// Ends a silence that has lasted for `AudioSilenceTime`.
  mutating func end() { isLong = false }
}

/// A notification for the user that an application records in the background.
public struct RecordingNotice: Equatable, Sendable {
  public var instance: InstanceID
  public var application: ApplicationKey
  /// The instant since which it is shown. Together with the instance, it identifies the notice.
  public var since: Instant

  public init(_ instance: InstanceID, _ application: ApplicationKey, since: Instant) {
    self.instance = instance
    self.application = application
    self.since = since
  }
}

/// An order to the session agent of a user about audio.
public enum AudioEffect: Equatable, Sendable {
  case mute(UserID, [AudioStreamID])
  case unmute(UserID, [AudioStreamID])
  /// Measure whether the streams play only silence.
  case measure(UserID, [AudioStreamID])
  case stopMeasuring(UserID, [AudioStreamID])
  /// Show the user that an instance records in the background.
  case showRecording(RecordingNotice)
  case hideRecording(InstanceID, ApplicationKey)
}
