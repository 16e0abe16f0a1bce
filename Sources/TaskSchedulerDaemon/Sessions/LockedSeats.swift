import TaskSchedulerCore

/// Determines the seats whose applications the user cannot use, because the screen of the seat is
/// locked or shows another session (contract §20).
enum LockedSeats {
  /// Returns the seats whose applications the user cannot use.
  ///
  /// - Parameter sessions: All login sessions, and whether each is locked.
  static func seats(
    of sessions: [(session: LoginSession, isLocked: Bool)], seats: DefaultSeats = DefaultSeats()
  ) -> Set<SeatID> {
    var locked: Set<SeatID> = []
    let desktops = sessions.filter(\.session.isDesktop)
    for (uid, ofUser) in Dictionary(grouping: desktops, by: \.session.uid) {
      // A text console counts only if the user has no graphical session.
      let graphical = ofUser.filter(\.session.isGraphical)
      let screens = graphical.isEmpty ? ofUser : graphical
      if screens.allSatisfy({ $0.isLocked || !$0.session.isActive }) {
        locked.insert(seats.ofUser(uid))
      }
    }
    // A manifest may name a seat of logind. The seat is locked if the session on its screen is
    // locked.
    for (session, isLocked) in desktops where isLocked && session.isActive {
      if let seat = session.seat { locked.insert(SeatID(seat)) }
    }
    return locked
  }
}
