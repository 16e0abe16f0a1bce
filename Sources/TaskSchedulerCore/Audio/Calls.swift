/// A phone call of a modem, as ModemManager reports it.
public struct ModemCall: Hashable, Sendable {
  /// The path of the call's object on the system bus.
  public var id: String
  /// Whether the call has been answered. Otherwise it rings here or at the other end.
  public var isAnswered: Bool

  public init(_ id: String, isAnswered: Bool) {
    self.id = id
    self.isAnswered = isAnswered
  }
}

/// The phone calls of modems and of applications.
struct Calls: Equatable, Sendable {
  enum Call: Hashable, Sendable {
    case modem(String)
    case application(InstanceID)

    var instance: InstanceID? { if case .application(let id) = self { id } else { nil } }
  }

  /// The modems' calls that have not been answered.
  private(set) var ringing: [String] = []
  /// The answered calls of modems, and the calls of applications, in the order in which they were
  /// answered or began.
  private(set) var answered: [Call] = []
  /// The instances whose calls are on hold, in no particular order.
  var held: [InstanceID] = []
  /// The instances that have called `BeginCall`, in no particular order.
  private(set) var begun: [InstanceID] = []
  /// The instances whose streams are a phone call (contract.md#call-stream), in no particular
  /// order.
  private(set) var streaming: [InstanceID] = []

  var isEmpty: Bool { ringing.isEmpty && answered.isEmpty && held.isEmpty }
  /// Whether a modem has a call. A call of a modem concerns all users.
  var hasModemCall: Bool { !ringing.isEmpty || answered.contains { $0.instance == nil } }
  /// The calls of modems, ordered by id.
  var ofModems: [ModemCall] {
    var calls = ringing.map { ModemCall($0, isAnswered: false) }
    for case .modem(let id) in answered { calls.append(ModemCall(id, isAnswered: true)) }
    return calls.sorted { $0.id < $1.id }
  }

  init() {}

  init(
    ringing: [String], answered: [Call], held: [InstanceID], begun: [InstanceID],
    streaming: [InstanceID]
  ) {
    self.ringing = ringing
    self.answered = answered
    self.held = held
    self.begun = begun
    self.streaming = streaming
  }

  /// Takes a report of all calls of the modems.
  mutating func take(_ calls: [ModemCall]) {
    ringing = calls.filter { !$0.isAnswered }.map(\.id)
    let present = calls.filter(\.isAnswered).map { Call.modem($0.id) }
    answered.removeAll { $0.instance == nil && !present.contains($0) }
    answered += present.filter { !answered.contains($0) }
  }

  func hasCall(_ id: InstanceID) -> Bool { answered.contains(.application(id)) }

  /// Begins the call of an instance that has called `BeginCall`.
  mutating func begin(_ id: InstanceID) {
    if !begun.contains(id) { begun.append(id) }
    refresh(id)
  }

  /// Ends the call of an instance that has called `EndCall`, unless its streams are a call too.
  mutating func end(_ id: InstanceID) {
    begun.removeAll { $0 == id }
    refresh(id)
  }

  /// Begins or ends the call of an instance because of its streams.
  mutating func setStreaming(_ id: InstanceID, _ isStreaming: Bool) {
    guard streaming.contains(id) != isStreaming else { return }
    if isStreaming { streaming.append(id) } else { streaming.removeAll { $0 == id } }
    refresh(id)
  }

  private mutating func refresh(_ id: InstanceID) {
    let mustHave = begun.contains(id) || streaming.contains(id)
    guard hasCall(id) != mustHave else { return }
    if mustHave {
      answered.append(.application(id))
    } else {
      answered.removeAll { $0 == .application(id) }
      held.removeAll { $0 == id }
    }
  }
}

/// A change of an application's phone call.
public enum CallChange: String, Equatable, Sendable, CaseIterable {
  case began, ended, held, resumed

  /// The change as a clause.
  var words: String {
    switch self {
    case .began: "its phone call began"
    case .ended: "its phone call ended"
    case .held: "its phone call is on hold because of a newer call"
    case .resumed: "its phone call is no longer on hold"
    }
  }
}

/// A change of an audio interruption, as an application receives it.
public enum AudioInterruption: Equatable, Sendable {
  case began
  /// The interruption has ended. `shouldResume` is true if a phone call was the last interrupter.
  /// The application may then play or record again by itself.
  case ended(shouldResume: Bool)
}

/// The interruption of an instance's audio.
struct InterruptedAudio: Equatable, Sendable {
  /// How the application learns of the interruption.
  enum Means: Equatable, Sendable {
    /// The application was told of the interruption. With `wasActive`, the interruption made the
    /// active application inactive.
    case told(wasActive: Bool)
    /// The agent has paused the instance's media player.
    case paused
    /// The application does not know of the interruption.
    case unnoticed
  }

  /// What interrupts the audio. If another application has begun to play during a phone call, it
  /// becomes the interrupter when the call ends. The interrupted application then must not play by
  /// itself when the interruption ends.
  var by: AudioInterrupter
  var means: Means
  /// Whether the streams of the instance must be muted.
  var isMuted: Bool
}
