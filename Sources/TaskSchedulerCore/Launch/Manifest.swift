/// What the policy needs to know of an application's manifest. How it is executed (command,
/// environment, folder) is the daemon's affair.
public struct Manifest: Hashable, Sendable {
  public var id: ApplicationID
  /// A name for people.
  public var displayName: String?
  /// Whom it runs as when launched.
  public var owner: UserID
  /// Whether the manifest names its user, and so speaks of that user's application only; else it
  /// speaks of everybody's application of this id.
  public var namesUser: Bool
  public var backgroundModes: [BackgroundMode]
  /// False where it opts out: sent away, it is terminated.
  public var multitasking: Bool
  public var isLaunchable: Bool
  /// Where the application is when it is launched.
  public var seat: SeatID
  /// Whether the manifest names its seat; else that is the seat of its user, and an application
  /// that somebody else starts may be at another one.
  public var namesSeat: Bool
  /// What asks it to end, in place of SIGTERM.
  public var stopSignal: Signal

  public init(
    id: ApplicationID, displayName: String? = nil, owner: UserID, namesUser: Bool = false,
    backgroundModes: [BackgroundMode] = [], multitasking: Bool = true, isLaunchable: Bool = true,
    seat: SeatID = SeatID("seat0"), namesSeat: Bool = false, stopSignal: Signal = .terminate
  ) {
    self.id = id
    self.displayName = displayName
    self.owner = owner
    self.namesUser = namesUser
    self.backgroundModes = backgroundModes
    self.multitasking = multitasking
    self.isLaunchable = isLaunchable
    self.seat = seat
    self.namesSeat = namesSeat
    self.stopSignal = stopSignal
  }

  var seatNamed: SeatID? { namesSeat ? seat : nil }

  /// Whether it speaks of this application.
  func applies(to key: ApplicationKey) -> Bool {
    id == key.id && (!namesUser || owner == key.owner)
  }

  var launchKey: ApplicationKey { ApplicationKey(id, owner: owner) }
}
