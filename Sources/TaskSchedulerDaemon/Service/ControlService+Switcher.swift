import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

// The application switcher (contract §19).

extension ControlService {
  func listSwitcher(_ input: Interface.ListSwitcher.Input, _ connection: Connection) throws {
    let owner = try input.owner.map { try Self.uid($0) }
    if let owner, owner != connection.peer.uid, !isOperator(connection.peer) {
      throw Interface.Failure.notPermitted(application: nil)
    }
    let listed = visibleNow(connection.peer).filter { status in
      status.switcherPosition != nil && (owner == nil || status.key.owner.uid == owner)
    }
    var seat = input.seat
    if let seat, !(1...255).contains(seat.utf8.count) || seat != PrintableText.of(seat) {
      throw ParameterError(
        parameter: "seat", problem: "a seat has 1 to 255 bytes, without control characters")
    }
    if seat == nil, owner == nil, input.all != true {
      seat = try self.seat(of: connection.peer, among: listed).name
    }
    let chosen = listed.filter { seat == nil || $0.seat?.name == seat }
    connection.reply(
      Interface.ListSwitcher.Output(
        seat: seat, applications: described(chosen, for: connection.peer)))
  }

  /// Returns the seat of a caller: the seat of its controlling terminal, else the seat of its login
  /// session, else the default seat of its user. Ignores each of the first two seats if no
  /// application in the switcher has that seat.
  private func seat(
    of peer: Peer, among listed: [ApplicationStatus]
  ) throws(SystemError) -> SeatID {
    if let caller = try peer.identity() {
      let seats = ProcessSeats(proc: proc)
      let places = [
        try seats.terminal(of: caller.pid, uid: peer.uid),
        try seats.session(of: caller.pid, uid: peer.uid),
      ]
      let seat = places.lazy.compactMap(\.self).first { place in
        listed.contains { $0.seat == place }
      }
      if let seat { return seat }
    }
    return DefaultSeats().ofUser(peer.uid)
  }

  func getSnapshot(_ input: Interface.GetSnapshot.Input, _ connection: Connection) throws {
    let key = try key(input.application, input.owner, connection.peer)
    guard let picture = pump.scheduler.snapshot(of: key)?.picture,
      let open = try pictures.open(picture)
    else { return connection.reply(Interface.GetSnapshot.Output()) }
    let output = Interface.GetSnapshot.Output(
      snapshotFileDescriptor: FileDescriptorIndex(0), size: open.bytesCount,
      width: open.image.width, height: open.image.height)
    connection.reply(output, with: open.file)
  }

  func removeFromSwitcher(
    _ input: Interface.RemoveFromSwitcher.Input, _ connection: Connection
  ) throws {
    let key = try key(input.application, input.owner, connection.peer)
    let request = requests.open(connection, application: input.application)
    post(.switcher(.remove(request, key, byUser: input.byUser ?? false)))
  }
}
