import TaskSchedulerCore

/// Checks the lowered volumes, the ends of audio sessions, and the recorded interrupters.
///
/// The daemon lowers the volume of an application exactly while another application of the user
/// plays with a ducking session, and restores each lowered volume (contract.md#audio-duck). A
/// session ends when its `AudioGraceTime` has passed. The record of an interruption contains the
/// right interrupter (contract.md#audio-takeover).
struct AudioSessionChecker: Checker {
  static let name = "audio sessions"
  /// The longest delay of a timer, in nanoseconds.
  let slack: UInt64

  private var returned: Set<AudioStreamID> = []

  init(slack: UInt64) { self.slack = slack }

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) { returned = [] }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    if case .record(let record) = effect, case .audioInterrupted(let by?) = record.change {
      try checkInterrupter(by, of: record.application, observed)
    }
    guard case .audio(.setVolume(let user, let changes)) = effect else { return }
    try require(
      Set(changes.map(\.stream)).count == changes.count, "one order changes a volume twice")
    for change in changes {
      try require(change.from != change.to, "an order changes a volume to the same volume")
      if change.to < change.from {
        try checkLowering(change, of: user, observed)
      } else {
        try checkReturn(change, of: user, observed)
        returned.insert(change.stream)
      }
    }
  }

  private func checkInterrupter(
    _ interrupter: AudioInterrupter, of key: ApplicationKey, _ observed: ObservedState
  ) throws(Finding) {
    guard case .application(let name) = interrupter else { return }
    let isPlaying = observed.live.contains {
      $0.key.id == name && $0.key.owner == key.owner && $0.key != key && $0.audio.session != nil
    }
    try require(
      isPlaying, "\(name.name) interrupts the audio of \(key.id.name), but has no audio session")
  }

  private func checkLowering(
    _ change: AudioVolumeChange, of user: UserID, _ observed: ObservedState
  ) throws(Finding) {
    let id = change.stream
    let instance = observed.live.first { one in
      one.key.owner == user && one.audio.audible.contains { $0.id == id }
    }
    guard let instance, let stream = instance.audio.audible.first(where: { $0.id == id }) else {
      return try require(
        false, "the volume of stream \(id.index) is lowered, but the stream is not audible")
    }
    let volumes = instance.audio.volumes
    try require(
      volumes.lowered[id] == nil,
      "the volume of stream \(id.index) of \(instance.name) is lowered twice")
    try require(
      !volumes.left.contains(id),
      "the volume of stream \(id.index) of \(instance.name) is lowered after the user changed it")
    let volume = volumes.returning[id]?.original ?? stream.volume
    let level = max(1, volume * observed.policy.duckLevel / 100)
    try require(
      change.from == volume && change.to == level,
      "the volume of stream \(id.index) of \(instance.name) is lowered from \(change.from) to "
        + "\(change.to), but must be lowered from \(volume) to \(level)")
  }

  /// Checks that an order restores exactly the volume that the stream had.
  private func checkReturn(
    _ change: AudioVolumeChange, of user: UserID, _ observed: ObservedState
  ) throws(Finding) {
    let id = change.stream
    let own = observed.live.first { $0.key.owner == user && $0.audio.volumes.all[id] != nil }
    let volume = own?.audio.volumes.all[id] ?? observed.audio.returning[id]?.volume
    try require(
      volume.map { $0.low == change.from && $0.original == change.to } ?? false,
      "the volume of stream \(id.index) is raised from \(change.from) to \(change.to), but was not "
        + "lowered from \(change.to) to \(change.from)")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for id in observed.audio.mustReturn.sorted() {
      try require(
        returned.contains(id),
        "stream \(id.index) belongs to no instance, but its lowered volume is not restored")
    }
    for instance in observed.live {
      try checkRecord(instance)
      if observed.audio.arbitrated.contains(instance.key.owner) {
        try checkVolumes(of: instance, observed)
      }
      guard let end = instance.audio.session?.endsAt else { continue }
      try require(
        max(end, observed.floor) + slack >= observed.now,
        "the audio session of \(instance.name) lasts for longer than AudioGraceTime")
    }
  }

  private func checkRecord(_ instance: ObservedInstance) throws(Finding) {
    let recorded: ObservedInterruption.Cause? =
      switch instance.audio.recordedInterrupter {
      case nil: nil
      case .phoneCall?: .phoneCall
      case .application?: .application
      }
    let cause = instance.audio.interruption?.cause
    try require(
      recorded == cause,
      "the audio of \(instance.name) must be \(words(cause)), but is \(words(recorded))")
  }

  private func words(_ cause: ObservedInterruption.Cause?) -> String {
    switch cause {
    case nil: "not interrupted"
    case .phoneCall?: "interrupted by a phone call"
    case .application?: "interrupted by an application"
    }
  }

  private func checkVolumes(
    of instance: ObservedInstance, _ observed: ObservedState
  ) throws(Finding) {
    let lowered = instance.audio.volumes.lowered
    guard observed.mustBeLow(instance) else {
      return try require(
        lowered.isEmpty,
        "the volume of \(instance.name) is lowered, but no other application requires this")
    }
    for stream in instance.audio.audible
    where lowered[stream.id] == nil && !instance.audio.volumes.left.contains(stream.id) {
      let level = max(1, stream.volume * observed.policy.duckLevel / 100)
      try require(
        LoweredVolume.isSame(stream.volume, level),
        "the volume of stream \(stream.id.index) of \(instance.name) must be lowered")
    }
  }
}
