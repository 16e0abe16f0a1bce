import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// The media players on the session bus. Reports the players and the calls to them, sends them the
/// commands of the daemons, and shows the player `taskschedd`.
///
/// Two connections are necessary, because a monitor of the bus cannot send messages. The bus may
/// end and start again at any time.
final class RemoteControl {
  /// An event of the media players.
  enum Occurrence {
    /// The players have changed. They are also reported once after the start, when the bus has
    /// listed all its names, or when no bus listens.
    case players([MediaPlayer])
    /// A program other than the agent has called a player.
    case called(MediaPlayerCall)
    /// A program has sent a command to the player `taskschedd`. The command is for the daemon with
    /// this number.
    case commanded(daemon: Int, MediaPlayerCommand)
    /// The agent cannot do a part of its work on this bus.
    case limited(RemoteControlLimit)
  }

  private static let rule =
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
    + "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
    + "arg0namespace='\(MediaPlayer.rootInterface)'"
  /// The maximum number of names that the agent reads from the bus.
  private static let namesMax = 65536

  private let proc: ProcFS
  private let report: (Occurrence) -> Void
  private var connection: ReconnectingBus?
  private var monitor: PlayerMonitor?
  private var service: PlayerService?
  private var table = PlayerTable()
  /// The number of calls to the bus that the bus has not answered.
  private var unanswered = 0
  /// Whether the table contains all players of the connected bus.
  private var isListed = false
  private var last: [MediaPlayer]?

  /// - Parameters:
  ///   - address: the address of the session bus, which need not listen yet.
  ///   - report: called from the loop, and from within ``start()``.
  init(
    address: BusAddress, loop: EventLoop, proc: ProcFS, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.proc = proc
    self.report = report
    let connection = try ReconnectingBus(address: address, loop: loop) { [weak self] in
      self?.heard($0)
    }
    self.connection = connection
    service = PlayerService(bus: connection.bus) { [weak self] in self?.heard($0) }
    monitor = try PlayerMonitor(address: address, loop: loop) { [weak self] in self?.heard($0) }
  }

  /// Connects to the bus as soon as it listens.
  func start() {
    connection?.start()
    monitor?.start()
  }

  // MARK: Orders

  /// Sends a player a command. Does not wait for the reply, because the player may be suspended.
  func send(_ order: SessionInterface.PlayerCommand) {
    guard table.hasPlayer(order.player), let command = MediaPlayerCommand(order) else { return }
    let method = BusMethod(
      destination: order.player, path: MediaPlayer.path, interface: MediaPlayer.playerInterface,
      member: command.command.playerMethod)
    do throws(SystemError) {
      try connection?.bus.send(method) { body throws(SystemError) in
        if let offset = command.offset { try body.append(offset) }
      }
    } catch {
      connection?.bus.lose("\(error)")
    }
  }

  /// Handles the order of a daemon to show an application as the player `taskschedd`, or to show
  /// none.
  func presentPlayer(_ player: SessionInterface.PresentedPlayer, of daemon: Int) {
    service?.take(player, of: daemon)
  }

  /// Removes the application of a daemon. The daemon sends its order again when the agent attaches.
  func endPlayer(of daemon: Int) { service?.end(of: daemon) }

  // MARK: Events

  private func heard(_ occurrence: ReconnectingBus.Occurrence) {
    switch occurrence {
    case .connected:
      service?.connected()
      ask("AddMatch", Self.rule, isVital: true) { _ in }
      ask("ListNames", isVital: true) { [weak self] values in
        for name in values.texts(countMax: Self.namesMax) ?? [] where MediaPlayer.isName(name) {
          self?.ask("GetNameOwner", name) { self?.setOwner($0.text(), of: name) }
        }
      }
    case .disconnected:
      table = PlayerTable()
      unanswered = 0
      isListed = false
      update([])
    case .message(let message):
      guard message.sender == "org.freedesktop.DBus",
        message.isSignal("org.freedesktop.DBus", "NameOwnerChanged"), let name = message.text(),
        message.text() != nil, let owner = message.text(), MediaPlayer.isName(name)
      else { return }
      setOwner(owner.isEmpty ? nil : owner, of: name)
      if isListed { update(table.players) }
    }
  }

  private func heard(_ occurrence: PlayerMonitor.Occurrence) {
    switch occurrence {
    case .called(let destination, let sender, let kind):
      guard sender != connection?.bus.uniqueName, let player = table.player(at: destination)
      else { return }
      report(.called(MediaPlayerCall(player: player, kind: kind)))
    case .refused(let reason): report(.limited(.noMonitor(reason)))
    }
  }

  private func heard(_ occurrence: PlayerService.Occurrence) {
    switch occurrence {
    case .commanded(let daemon, let command): report(.commanded(daemon: daemon, command))
    case .nameRefused(let error): report(.limited(.noName("\(error)")))
    }
  }

  // MARK: The table of players

  private func setOwner(_ owner: String?, of name: String) {
    guard let unknown = table.setOwner(owner, of: name) else { return }
    ask("GetConnectionUnixProcessID", unknown) { [weak self] values in
      guard let self, let pid = values.number().flatMap({ Int32(exactly: $0) }), pid > 0,
        let process = (try? proc.identity(pid)) ?? nil
      else { return }
      table.setProcess(process, of: unknown)
    }
  }

  /// Calls a method of the bus. After the reply, reports the players if the table contains all of
  /// them and differs from the last report.
  ///
  /// - Parameters:
  ///   - isVital: whether an error makes the connection useless. If false, an error only means that
  ///     the name in the argument has left the bus.
  ///   - answer: receives the reply.
  private func ask(
    _ member: String, _ argument: String? = nil, isVital: Bool = false,
    _ answer: @escaping (MessageReader) -> Void
  ) {
    guard let bus = connection?.bus else { return }
    do throws(SystemError) {
      try bus.call(
        .ofBus(member), timeout: nil,
        arguments: { body throws(SystemError) in
          if let argument { try body.append(argument) }
        },
        answer: { [weak self] in self?.answered($0, isVital: isVital, answer) })
      unanswered += 1
    } catch {
      bus.lose("\(error)")
    }
  }

  private func answered(
    _ result: BusAnswer, isVital: Bool, _ answer: (MessageReader) -> Void
  ) {
    guard let bus = connection?.bus, bus.state == .connected else { return }
    switch result {
    case .reply(let values): answer(values)
    case .error(let error):
      if isVital { return bus.lose("\(error)") }
    // The connection has ended. It reports this with the event `disconnected`.
    case .dropped: return
    }
    unanswered -= 1
    if unanswered == 0 { isListed = true }
    if isListed { update(table.players) }
  }

  private func update(_ players: [MediaPlayer]) {
    guard last != players else { return }
    last = players
    report(.players(players))
  }
}

/// A part of remote control that the session bus does not permit.
package enum RemoteControlLimit: Hashable, Sendable, CustomStringConvertible {
  /// The agent cannot see the calls to media players.
  case noMonitor(String)
  /// The agent cannot show the player `taskschedd`.
  case noName(String)

  package var description: String {
    switch self {
    case .noMonitor(let reason): "cannot see media commands: \(reason)"
    case .noName(let reason): "cannot show the media player taskschedd: \(reason)"
    }
  }
}
