import TaskSchedulerCore

/// A login session, as logind describes it.
struct LoginSession: Equatable {
  /// logind's id of the session, such as `2`.
  var id: String
  var uid: UInt32
  /// logind's seat, such as `seat0`; nil for a session without a seat, such as a remote one.
  var seat: String?
  /// The type of the session: `wayland`, `x11`, `tty` or another.
  var type = "unspecified"
  /// The class of the session: `user` for a user's session, `greeter` for a display manager's.
  var sessionClass = "user"
  var isRemote = false
  /// Whether the session is on the screen of its seat. Always true for a session without a seat.
  var isActive = true
  /// Whether the session is ending, and only waits for its last processes.
  var isClosing = false
  /// Whether the desktop reports that the session is locked (LockedHint).
  var isLockedByHint = false

  var isGraphical: Bool { ["wayland", "x11", "mir"].contains(type) }

  /// Whether a user can see applications in the session: it is graphical, or at a seat. A seat is
  /// sufficient, because the user may start a compositor on a text console. The type of such a
  /// session may stay `tty`.
  var isDesktop: Bool {
    sessionClass.hasPrefix("user") && !isClosing && (isGraphical || (seat != nil && !isRemote))
  }

  /// Whether the session is on the screen of a seat now. Its user then counts as a local user.
  var isAtScreen: Bool { isDesktop && isActive && seat != nil && !isRemote }
}

/// The users at the machine's own screens, as far as the daemon knows them.
enum LocalUsers: Equatable {
  /// logind has not answered yet.
  case unknown
  /// There is no logind.
  case noLogind
  /// The users with an active session at a seat. polkit's rules for active local sessions apply to
  /// them.
  case known(Set<UserID>)
}

/// Whether a session is locked, and how the daemon knows.
///
/// A desktop sets the session's property LockedHint while it shows its lock screen. Some screen
/// lockers do not set it. For them, the daemon knows only logind's signals Lock and Unlock, with
/// which a program asks the desktop to lock or unlock the session. A request does not prove a lock,
/// so the property takes precedence over the signals.
enum SessionLock: Equatable {
  case unlocked
  /// A program asked for the lock, and the desktop has not set LockedHint.
  case requested
  /// LockedHint is true.
  case confirmed

  var isLocked: Bool { self != .unlocked }

  mutating func lockRequested() {
    if self == .unlocked { self = .requested }
  }

  /// Ends a lock without LockedHint. A lock with LockedHint continues, because the desktop clears
  /// LockedHint when it unlocks the session.
  mutating func unlockRequested() {
    if self == .requested { self = .unlocked }
  }

  mutating func hintRead(_ isLocked: Bool) {
    if isLocked {
      self = .confirmed
    } else if self == .confirmed {
      self = .unlocked
    }
  }
}
