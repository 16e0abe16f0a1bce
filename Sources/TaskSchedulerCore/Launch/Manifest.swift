/// The part of an application's manifest that the scheduler needs. The daemon keeps the rest:
/// command, environment and directory.
public struct Manifest: Equatable, Sendable {
  public var id: ApplicationID
  /// The name that users see.
  public var displayName: String?
  /// The user that a launched application runs as.
  public var owner: UserID
  /// Whether the manifest names its user. If so, the manifest applies only to that user's
  /// application. Otherwise it applies to every user's application with this id.
  public var namesUser: Bool
  public var backgroundModes: [BackgroundMode]
  /// The location services that the application may ask for.
  public var locationServices: [LocationService]
  /// Whether the application may stay in the background. If false, the scheduler terminates it when
  /// it leaves the foreground.
  public var multitasking: Bool
  public var isLaunchable: Bool
  /// The seat of the application when it is launched.
  public var seat: SeatID
  /// Whether the manifest names its seat. If not, ``seat`` is the seat of ``owner``, and an
  /// instance that another user starts may be at another seat.
  public var namesSeat: Bool
  /// The signal that asks the application to end; SIGTERM by default.
  public var stopSignal: Signal

  public init(
    id: ApplicationID, displayName: String? = nil, owner: UserID, namesUser: Bool = false,
    backgroundModes: [BackgroundMode] = [], locationServices: [LocationService] = [],
    multitasking: Bool = true, isLaunchable: Bool = true,
    seat: SeatID = SeatID("seat0"), namesSeat: Bool = false, stopSignal: Signal = .terminate
  ) {
    self.id = id
    self.displayName = displayName
    self.owner = owner
    self.namesUser = namesUser
    self.backgroundModes = backgroundModes
    self.locationServices = locationServices
    self.multitasking = multitasking
    self.isLaunchable = isLaunchable
    self.seat = seat
    self.namesSeat = namesSeat
    self.stopSignal = stopSignal
  }

  var seatNamed: SeatID? { namesSeat ? seat : nil }

  /// Returns whether the manifest applies to an application.
  func applies(to key: ApplicationKey) -> Bool {
    id == key.id && (!namesUser || owner == key.owner)
  }

  var launchKey: ApplicationKey { ApplicationKey(id, owner: owner) }
}
