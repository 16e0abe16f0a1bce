import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// The media player `org.mpris.MediaPlayer2.taskschedd`, by which the user controls an application
/// that has no media player of its own on the session bus.
///
/// The agent owns the name only while a daemon presents an application.
final class PlayerService {
  /// An event of the player.
  enum Occurrence {
    /// A program has sent the player a command. The command is for the daemon with this number.
    case commanded(daemon: Int, MediaPlayerCommand)
    /// The bus does not permit the player's name. The event occurs once for several refusals in a
    /// row.
    case nameRefused(BusError)
  }

  private static let properties = "org.freedesktop.DBus.Properties"
  private static let introspectable = "org.freedesktop.DBus.Introspectable"

  private let bus: MessageBus
  private let report: (Occurrence) -> Void
  private var players = PresentedPlayers()
  private var isNameRefused = false

  /// Serves the player's object. The bus must not be connected yet.
  ///
  /// - Parameter report: called from the loop only.
  init(bus: MessageBus, report: @escaping (Occurrence) -> Void) {
    self.bus = bus
    self.report = report
    bus.serve(path: MediaPlayer.path) { [weak self] call in
      self?.reply(to: call) ?? .noPlayer
    }
  }

  /// Requests the player's name on a new connection, if the player shows an application.
  func connected() {
    if players.shown != nil { callBus("RequestName", flags: 0) }
  }

  /// Handles the order of a daemon to show an application, or to show none.
  func take(_ player: SessionInterface.PresentedPlayer, of daemon: Int) {
    change { $0.take(player, of: daemon) }
  }

  /// Removes the application that a daemon presents.
  func end(of daemon: Int) {
    change { $0.end(of: daemon) }
  }

  private func change(_ body: (inout PresentedPlayers) -> Void) {
    let before = players.shown?.player
    body(&players)
    guard bus.state == .connected else { return }
    switch (before, players.shown?.player) {
    case (nil, nil): break
    case (nil, .some): callBus("RequestName", flags: 0)
    case (.some, nil): callBus("ReleaseName")
    case (let before?, let after?): emitChanges(PlayerObject(before), PlayerObject(after))
    }
  }

  /// Requests or releases the player's name. While another program, such as an earlier agent, owns
  /// the name, the bus queues the request.
  private func callBus(_ member: String, flags: UInt32? = nil) {
    do throws(SystemError) {
      try bus.call(
        .ofBus(member), timeout: nil,
        arguments: { body throws(SystemError) in
          try body.append(MediaPlayer.ownName)
          if let flags { try body.append(flags) }
        },
        answer: { [weak self] in self?.answered($0) })
    } catch {
      bus.lose("\(error)")
    }
  }

  private func answered(_ answer: BusAnswer) {
    switch answer {
    case .reply: isNameRefused = false
    case .error(let error):
      if isNameRefused { return }
      isNameRefused = true
      report(.nameRefused(error))
    case .dropped: break
    }
  }

  private func emitChanges(_ before: PlayerObject, _ after: PlayerObject) {
    for interface in PlayerObject.interfaces {
      let old = before.properties(of: interface) ?? []
      let changed = (after.properties(of: interface) ?? []).filter { !old.contains($0) }
      if changed.isEmpty { continue }
      do throws(SystemError) {
        try bus.emit("PropertiesChanged", of: Self.properties, at: MediaPlayer.path) {
          body throws(SystemError) in
          try body.append(interface)
          try PlayerProperty.append(changed, to: body)
          // The last argument lists the changed properties that are sent without a value. There are
          // none.
          try body.append([String]())
        }
      } catch {
        return bus.lose("\(error)")
      }
    }
  }

  // MARK: Calls

  private func reply(to call: BusCallToServe) -> BusReply {
    guard let shown = players.shown else { return .noPlayer }
    let object = PlayerObject(shown.player)
    switch call.interface ?? "" {
    case Self.introspectable where call.member == "Introspect":
      let text = object.introspection
      return .values { body throws(SystemError) in try body.append(text) }
    case Self.properties: return reply(to: call, object)
    case MediaPlayer.playerInterface: return reply(to: call, shown.daemon)
    case MediaPlayer.rootInterface where ["Raise", "Quit"].contains(call.member):
      return .notSupported
    case _: return .unknownMethod
    }
  }

  private func reply(to call: BusCallToServe, _ object: PlayerObject) -> BusReply {
    guard ["Get", "GetAll", "Set"].contains(call.member) else { return .unknownMethod }
    let arguments = call.arguments
    guard let interface = arguments.text() else { return .invalidArguments }
    guard let properties = object.properties(of: interface) else {
      return .failure("UnknownInterface", "The player has no properties of \(interface)")
    }
    if call.member == "GetAll" {
      return .values { body throws(SystemError) in
        try PlayerProperty.append(properties, to: body)
      }
    }
    guard let name = arguments.text() else { return .invalidArguments }
    guard let property = properties.first(where: { $0.name == name }) else {
      return .failure("UnknownProperty", "The player has no property \(name)")
    }
    if call.member == "Set" {
      return .failure("PropertyReadOnly", "The property \(name) cannot be changed")
    }
    return .values { body throws(SystemError) in try property.appendValue(to: body) }
  }

  private func reply(to call: BusCallToServe, _ daemon: Int) -> BusReply {
    switch call.member {
    case "SetPosition", "OpenUri": return .notSupported
    case "Seek":
      guard let offset = call.arguments.signedNumber() else { return .invalidArguments }
      report(.commanded(daemon: daemon, MediaPlayerCommand(.seek, offset: offset)))
    case let member:
      guard let command = MediaPlayerCommand(method: member) else { return .unknownMethod }
      report(.commanded(daemon: daemon, command))
    }
    return .empty
  }
}

extension BusReply {
  fileprivate static func failure(_ name: String, _ text: String) -> BusReply {
    .error(BusError(name: "org.freedesktop.DBus.Error.\(name)", text: text))
  }

  fileprivate static var noPlayer: BusReply {
    .failure("UnknownObject", "No application is shown as a media player")
  }

  fileprivate static var unknownMethod: BusReply {
    .failure("UnknownMethod", "The player has no such method")
  }

  fileprivate static var invalidArguments: BusReply {
    .failure("InvalidArgs", "The arguments have the wrong types")
  }

  fileprivate static var notSupported: BusReply {
    .failure("NotSupported", "The player does not support this method")
  }
}
