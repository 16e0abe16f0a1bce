/// A fault of the simulated world.
public enum Fault: String, CaseIterable, Equatable, Sendable {
  /// An application never acknowledges a callback.
  case acknowledgesNever
  /// An application acknowledges a callback shortly before or after the end of the limit.
  case acknowledgesLate
  case acknowledgesTwice
  /// An application acknowledges a callback that it never received.
  case acknowledgesWrong
  /// An application ends a task that it does not have.
  case endsWrongTask
  /// An application keeps its tasks after its expiration handlers were called.
  case ignoresExpiration
  /// An application does not exit after its stop signal.
  case ignoresTermination
  /// The leader of an instance exits or crashes.
  case exits
  /// An application creates processes as fast as the daemon stops them, so that the suspension
  /// fails.
  case forks
  /// The connection of an application breaks.
  case losesStream
  case messagesAreSlow
  case debuggerAttaches
  case spawnFails
  case manageFails
  case suspendFails
  case terminateFails
  case killFails
  /// The machine sleeps.
  case machineSleeps
  /// The daemon dies between an event and an effect.
  case daemonDies
  /// Settings and manifests change during the run.
  case configurationChanges
  /// A launched program crashes within 3 s.
  case crashLoops
  /// A store cannot save a change of notifications or of location services.
  case storeFails
  /// A write of a store takes up to 30 s.
  case storeIsSlow
  /// The wall clock is set.
  case clockIsSet
  /// An application uses a GPU in the background.
  case usesGPU
  /// An application uses too much CPU time in the background.
  case hogsCPU
  /// An application keeps a lock on a shared file when it is suspended.
  case keepsLock
  /// Another program resumes a suspended application's processes.
  case resumedFromOutside
  /// A source reports a location far from the true position, or a wrong accuracy.
  case locationsAreWrong
  /// The daemon receives a location late or twice.
  case locationsAreLate
  /// A source of locations disappears.
  case sourcesVanish

  /// The highest rate of the fault, in thousandths of the occasions at which it can happen.
  var rateMax: Int {
    switch self {
    case .acknowledgesNever, .acknowledgesTwice, .acknowledgesWrong, .endsWrongTask: 150
    case .acknowledgesLate, .ignoresExpiration, .ignoresTermination, .forks: 300
    case .exits, .losesStream, .debuggerAttaches, .machineSleeps, .configurationChanges: 40
    case .daemonDies: 60
    case .messagesAreSlow: 500
    case .crashLoops: 600
    case .storeFails, .storeIsSlow: 300
    case .clockIsSet: 40
    case .usesGPU, .keepsLock, .resumedFromOutside: 150
    case .hogsCPU: 300
    case .locationsAreWrong: 150
    case .locationsAreLate: 300
    case .sourcesVanish: 800
    case .spawnFails, .manageFails, .suspendFails, .terminateFails, .killFails: 250
    }
  }
}

/// The rate of each fault, drawn for each seed.
///
/// About half of the faults never happen in a run, so that they do not hide other faults (swarm
/// testing: Groce et al., 2012).
public struct Faults: Sendable {
  private var permille: [Fault: Int] = [:]

  public init(seed: UInt64, without: Set<Fault>) {
    var chance = SeededGenerator(seed: seed, .faults)
    for fault in Fault.allCases {
      let rate = chance.happens(500) ? 1 + chance.below(fault.rateMax) : 0
      if !without.contains(fault) { permille[fault] = rate }
    }
  }

  /// Creates a rate of 0 for every fault.
  init() {}

  subscript(fault: Fault) -> Int { permille[fault] ?? 0 }

  /// The faults with a rate above 0, as text: `exits 12‰, forks 3‰`.
  public var text: String {
    Fault.allCases.compactMap { self[$0] > 0 ? "\($0.rawValue) \(self[$0])‰" : nil }
      .joined(separator: ", ")
  }
}
