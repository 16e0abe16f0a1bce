// The audio of one instance, and the streams that the daemon mutes.
//
// The problem: an audio server plays up to 2 s of audio that a stopped application has buffered.
// The daemon therefore mutes the streams of an application that it suspends, and must undo this
// later. The agent that carries out the orders may die. A stream may end while it is muted. The
// server remembers the mute: the next stream of the same application begins muted, or even the next
// stream of any application with the same media role.
//
// The idea: each muted stream is in one of two lists. `muted` lists the streams that must be muted,
// because the instance is suspended or interrupted. `restoring` lists the streams that must be
// unmuted. A stream leaves `restoring` when a report shows it unmuted, but only if the report is
// newer than all orders. Otherwise, the stream may be unmuted because an order to mute it has not
// arrived yet. After each turn with orders, the scheduler therefore sends a number
// (`AudioEffect.confirm`), which each newer report contains.
//
// For each stream, a report also contains the number of the entry in which the server remembers the
// mute (`AudioStream.memory`). After the daemon has muted a stream of an entry, it unmutes each new
// stream of the same entry that begins muted.
//
// Why this is right: the lists follow from the events in the event log, so a new daemon has the
// same lists. A new agent has confirmed nothing, and receives both lists again. Muting or unmuting
// a stream twice does no harm.

/// The audio of one instance, as a session agent reports it.
struct InstanceAudio: Equatable, Sendable {
  /// The streams of the last report, ordered by their ids.
  private(set) var streams: [AudioStream] = []
  /// The end of `AudioGraceTime`; nil if this time is not running.
  private(set) var graceEnds: Instant?
  /// The streams that the daemon has muted, ordered by their ids.
  private(set) var muted: [AudioStreamID] = []
  /// The streams whose mute the daemon is ending, ordered by their ids.
  private(set) var restoring: [AudioStreamID] = []
  /// The streams whose mute or volume the daemon has changed, with the numbers of their entries
  /// (``AudioStream/memory``).
  private(set) var memories: [AudioStreamID: UInt32] = [:]
  var silence = AudioSilence()
  /// The instant since which a notification tells the user that the instance records; nil without a
  /// notification.
  var noticedAt: Instant?
  var ducking = AudioDucking()
  /// The audio session that the application has set; nil if it has set none.
  var declared: AudioSession?
  /// The interruption of the audio; nil if there is none.
  var interrupted: InterruptedAudio?
  /// Whether the application has a phone call.
  var isInCall = false

  var isAudible: Bool { streams.contains { $0.isAudible } }
  /// Whether a stream plays, even if it is muted.
  var isPlaying: Bool { streams.contains { $0.direction == .playback && $0.isRunning } }
  var isRecording: Bool { streams.contains { $0.isRecording } }
  /// Whether the instance records, or is audible and has not been silent for `AudioSilenceTime`.
  var isInUse: Bool { isRecording || isAudible && !silence.isLong }
  /// Whether the value contains nothing that the scheduler must remember.
  var isEmpty: Bool {
    streams.isEmpty && graceEnds == nil && muted.isEmpty && restoring.isEmpty
      && silence == AudioSilence() && noticedAt == nil && interrupted == nil && !isInCall
      && ducking == AudioDucking() && declared == nil
  }
  /// The streams that the daemon has muted, including those that the agent is unmuting now.
  var changed: [AudioStreamID] { (muted + restoring).sorted() }
  var use: AudioUse {
    AudioUse(
      isAudible: isAudible, isRecording: isRecording, isMuted: !muted.isEmpty,
      isDucked: !ducking.lowered.isEmpty, interrupter: interrupted?.by, isInCall: isInCall)
  }

  /// Takes a report of all streams of the user.
  ///
  /// - Parameter isConfirmed: Whether the report is newer than all orders.
  /// - Returns: The mutes and volumes that the daemon's orders left in the server's entries for
  ///   streams that have now ended. The keys are the numbers of the entries
  ///   (``AudioStream/memory``).
  mutating func take(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], isConfirmed: Bool
  ) -> [UInt32: RememberedAudio] {
    // A stream that begins to play may be loud, so it ends the silence.
    let audible = Set(streams.lazy.filter(\.isAudible).map(\.id))
    if own.contains(where: { $0.isAudible && !audible.contains($0.id) }) { silence.end() }
    streams = own
    let ended = heldMemories { all[$0] == nil }
    muted.removeAll { all[$0] == nil }
    restoring.removeAll { id in all[id].map { isConfirmed && !$0.isMuted } ?? true }
    ducking.take(all, isConfirmed: isConfirmed)
    updateMemories()
    return ended
  }

  /// Returns the mutes and volumes that the daemon's orders left in the server's entries for the
  /// streams that `isIncluded` selects. The keys are the numbers of the entries
  /// (``AudioStream/memory``).
  func heldMemories(
    where isIncluded: (AudioStreamID) -> Bool = { _ in true }
  ) -> [UInt32: RememberedAudio] {
    if memories.isEmpty { return [:] }
    var held: [UInt32: RememberedAudio] = [:]
    for id in changed where isIncluded(id) {
      guard let memory = memories[id] else { continue }
      held[memory, default: RememberedAudio()].add(RememberedAudio(isMuted: true))
    }
    for change in ducking.returned where isIncluded(change.stream) {
      guard let memory = memories[change.stream] else { continue }
      held[memory, default: RememberedAudio()].add(RememberedAudio(volume: change))
    }
    return held
  }

  /// Updates ``memories`` after a change of the streams, or of the mutes and volumes that the
  /// daemon has set.
  private mutating func updateMemories() {
    let ids = Set(changed).union(ducking.returned.map(\.stream))
    if ids.isEmpty, memories.isEmpty { return }
    memories = memories.filter { ids.contains($0.key) }
    for stream in streams where stream.memory != 0 && ids.contains(stream.id) {
      memories[stream.id] = stream.memory
    }
  }

  /// Lowers the volumes of streams to a percentage. Returns the changes.
  mutating func lower(_ streams: [AudioStream], to percent: Int) -> [AudioVolumeChange] {
    let changes = ducking.lower(streams, to: percent)
    updateMemories()
    return changes
  }

  /// Discards what an agent has reported, after the connection to it has ended.
  mutating func forgetReports() {
    streams = []
    graceEnds = nil
    silence = AudioSilence()
  }

  mutating func setGrace(until end: Instant?) { graceEnds = end }

  /// Adds streams to ``muted``: those that are audible, and those whose mute the daemon is ending.
  /// Returns the added streams, which the agent must mute.
  mutating func mute() -> [AudioStreamID] {
    let audible = streams.lazy.filter(\.isAudible).map(\.id)
    let fresh = Set(audible).union(restoring).subtracting(muted).sorted()
    if fresh.isEmpty { return [] }
    muted = (muted + fresh).sorted()
    restoring = []
    updateMemories()
    return fresh
  }

  /// Moves all streams from ``muted`` to ``restoring``. Returns these streams, which the agent must
  /// unmute.
  mutating func unmute() -> [AudioStreamID] {
    let ended = muted
    restoring = (restoring + ended).sorted()
    muted = []
    return ended
  }

  /// Adds streams that must be unmuted or whose volume must be restored. Until now, these streams
  /// belonged to no instance.
  mutating func adopt(restoring mutes: [AudioStreamID], raising: [AudioVolumeChange]) {
    restoring = (restoring + mutes.filter { !changed.contains($0) }).sorted()
    for change in raising { ducking.addRaising(change) }
    updateMemories()
  }

  /// Adds a new stream that began muted or with a lowered volume because the server remembered a
  /// change of the daemon.
  ///
  /// - Returns: Whether the stream must be unmuted.
  mutating func restore(_ stream: AudioStream, _ remembered: RememberedAudio) -> Bool {
    let isMuted = remembered.isMuted && stream.isMuted && !changed.contains(stream.id)
    if isMuted { restoring = (restoring + [stream.id]).sorted() }
    if let volume = remembered.volume, AudioVolumeChange.isSame(stream.volume, volume.from) {
      // The volume counts as lowered for now. The arbitration of audio then restores it, unless the
      // stream must stay low.
      ducking.add(stream.id, lowered: volume.from, from: volume.to)
    }
    updateMemories()
    return isMuted
  }

  func check() throws(InvariantViolation) {
    try require(Self.isOrdered(streams.map(\.id)), "the streams of an instance are not in order")
    try require(
      silence.since == nil || !silence.measured.isEmpty,
      "an instance is silent, but its streams are not measured")
    try require(
      Self.isOrdered(changed), "a muted stream of an instance is listed twice")
    try ducking.check()
  }

  private static func isOrdered(_ ids: [AudioStreamID]) -> Bool {
    zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
  }
}

/// How long an instance has played only silence (contract.md#audio-silence).
///
/// The measurement of a stream wakes the agent once a second. The agent therefore measures an
/// instance only in the background, and only while its audible streams alone entitle it to run.
struct AudioSilence: Equatable, Sendable {
  /// The streams that the agent must measure, ordered by their ids.
  private(set) var measured: [AudioStreamID] = []
  /// The instant since which all measured streams have been silent; nil if one of them is loud, or
  /// if the agent measures none.
  private(set) var since: Instant?
  /// Whether the silence has lasted for `AudioSilenceTime`. If so, the instance counts as paused
  /// until one of its streams begins to play, or until it is resumed or enters the foreground.
  private(set) var isLong = false

  /// Sets the streams to measure, and whether all of them are silent.
  ///
  /// - Returns: The streams that the agent must begin to measure, and those that it must stop
  ///   measuring.
  mutating func measure(
    _ streams: [AudioStreamID], areSilent: Bool, at now: Instant
  ) -> (begin: [AudioStreamID], end: [AudioStreamID]) {
    let begin = streams.filter { !measured.contains($0) }
    let end = measured.filter { !streams.contains($0) }
    measured = streams
    since = areSilent && !streams.isEmpty ? since ?? now : nil
    return (begin, end)
  }

  /// Returns the instant at which the silence has lasted for `AudioSilenceTime`; nil if there is no
  /// silence.
  func due(_ policy: SharedPolicy) -> Instant? {
    since?.advanced(by: policy.audioSilenceTime)
  }

  /// Starts `AudioSilenceTime` again.
  mutating func restart(at now: Instant) { if since != nil { since = now } }

  mutating func becomeLong() { isLong = true }

  /// Ends a silence that has lasted for `AudioSilenceTime`.
  mutating func end() { isLong = false }
}

/// A notification that tells the user that an application records audio in the background.
public struct RecordingNotice: Equatable, Sendable {
  public var instance: InstanceID
  public var application: ApplicationKey
  /// The instant since which the agent shows the notice. The instance and this instant together
  /// identify the notice.
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
  /// Lower or restore volumes.
  case setVolume(UserID, [AudioVolumeChange])
  /// Measure whether the streams play only silence.
  case measure(UserID, [AudioStreamID])
  case stopMeasuring(UserID, [AudioStreamID])
  /// Request the streams again when the audio server has received all orders so far, and report
  /// them with this number in ``AudioSnapshot/confirmed``.
  case confirm(UserID, UInt64)
  /// Show the user that an instance records in the background.
  case showRecording(RecordingNotice)
  case hideRecording(InstanceID, ApplicationKey)
}
