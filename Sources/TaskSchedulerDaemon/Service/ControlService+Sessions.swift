import TaskSchedulerWire

// The method about login sessions (contract §20).

extension ControlService {
  func listSessions(_: Interface.ListSessions.Input, _ connection: Connection) throws {
    let sees = { [peer = connection.peer] (uid: UInt32) in self.isOperator(peer) || uid == peer.uid }
    let sessions = loginSessions.desktops.filter { sees($0.session.uid) }
    connection.reply(
      Interface.ListSessions.Output(
        sessions: sessions.map { session, isLocked in
          .init(
            session: session.id, user: Int(session.uid),
            seat: DefaultSeats().ofUser(session.uid).name, loginSeat: session.seat,
            type: session.type, active: session.isActive, locked: isLocked)
        }))
  }
}
