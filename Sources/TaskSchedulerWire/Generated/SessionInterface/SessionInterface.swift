// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

/// The interface between taskschedd and the session agent of a user, taskschedd-session.
///
/// The agent runs without privileges in the session of its user. It reports what happens there,
/// shows the notifications of the user's applications, and mutes their audio while they are
/// suspended. If the daemon orders locations, the agent also reports the locations that it learns
/// from GeoClue. It attaches to the system's daemon and to the user's own daemon. The daemon learns
/// the user of the agent from the credentials of the socket. It uses a report only for applications
/// of that user.
///
/// Each daemon serves one agent of each user: the one that attached last. An agent reports on a
/// second connection, because the first one receives the daemon's orders.
///
/// org.taskschedd.Application describes the limits of messages.
public enum SessionInterface {
  public static let name = "org.taskschedd.Session"

  /// The contents of the `.varlink` file. Introspection returns its text.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_taskschedd_Session_varlink)

  /// The types of the methods.
  public static let methods: [any InterfaceMethod.Type] = [
    Attach.self, ReportWindows.self, ForgetWindows.self, ReportAudio.self, ReportPlayers.self,
    PlayerCalled.self, PlayerCommanded.self, ReportLocationSource.self, ReportLocation.self,
    NotificationShown.self, NotificationChosen.self, NotificationClosed.self,
    NotificationFailed.self,
  ]

  /// The full names of the methods, which identify calls.
  public enum MethodName: String, CaseIterable, Sendable {
    case attach = "org.taskschedd.Session.Attach"
    case reportWindows = "org.taskschedd.Session.ReportWindows"
    case forgetWindows = "org.taskschedd.Session.ForgetWindows"
    case reportAudio = "org.taskschedd.Session.ReportAudio"
    case reportPlayers = "org.taskschedd.Session.ReportPlayers"
    case playerCalled = "org.taskschedd.Session.PlayerCalled"
    case playerCommanded = "org.taskschedd.Session.PlayerCommanded"
    case reportLocationSource = "org.taskschedd.Session.ReportLocationSource"
    case reportLocation = "org.taskschedd.Session.ReportLocation"
    case notificationShown = "org.taskschedd.Session.NotificationShown"
    case notificationChosen = "org.taskschedd.Session.NotificationChosen"
    case notificationClosed = "org.taskschedd.Session.NotificationClosed"
    case notificationFailed = "org.taskschedd.Session.NotificationFailed"
  }

  /// A type that carries out the methods of the interface. A method replies to its caller, at
  /// once or later, or throws a ``MethodFailure``.
  public protocol Implementation {
    /// The client that calls.
    associatedtype Caller

    func attach(_ input: Attach.Input, _ caller: Caller) throws
    func reportWindows(_ input: ReportWindows.Input, _ caller: Caller) throws
    func forgetWindows(_ input: ForgetWindows.Input, _ caller: Caller) throws
    func reportAudio(_ input: ReportAudio.Input, _ caller: Caller) throws
    func reportPlayers(_ input: ReportPlayers.Input, _ caller: Caller) throws
    func playerCalled(_ input: PlayerCalled.Input, _ caller: Caller) throws
    func playerCommanded(_ input: PlayerCommanded.Input, _ caller: Caller) throws
    func reportLocationSource(_ input: ReportLocationSource.Input, _ caller: Caller) throws
    func reportLocation(_ input: ReportLocation.Input, _ caller: Caller) throws
    func notificationShown(_ input: NotificationShown.Input, _ caller: Caller) throws
    func notificationChosen(_ input: NotificationChosen.Input, _ caller: Caller) throws
    func notificationClosed(_ input: NotificationClosed.Input, _ caller: Caller) throws
    func notificationFailed(_ input: NotificationFailed.Input, _ caller: Caller) throws
  }

  /// Decodes the parameters of a call, and carries it out.
  ///
  /// - Throws: ``ParameterError`` if the parameters are not those of the method.
  public static func carryOut<Methods: Implementation>(
    _ method: MethodName, _ call: ReceivedCall, by methods: Methods,
    for caller: Methods.Caller
  ) throws {
    switch method {
    case .attach:
      try methods.attach(call.decode(Attach.Input.self), caller)
    case .reportWindows:
      try methods.reportWindows(call.decode(ReportWindows.Input.self), caller)
    case .forgetWindows:
      try methods.forgetWindows(call.decode(ForgetWindows.Input.self), caller)
    case .reportAudio:
      try methods.reportAudio(call.decode(ReportAudio.Input.self), caller)
    case .reportPlayers:
      try methods.reportPlayers(call.decode(ReportPlayers.Input.self), caller)
    case .playerCalled:
      try methods.playerCalled(call.decode(PlayerCalled.Input.self), caller)
    case .playerCommanded:
      try methods.playerCommanded(call.decode(PlayerCommanded.Input.self), caller)
    case .reportLocationSource:
      try methods.reportLocationSource(call.decode(ReportLocationSource.Input.self), caller)
    case .reportLocation:
      try methods.reportLocation(call.decode(ReportLocation.Input.self), caller)
    case .notificationShown:
      try methods.notificationShown(call.decode(NotificationShown.Input.self), caller)
    case .notificationChosen:
      try methods.notificationChosen(call.decode(NotificationChosen.Input.self), caller)
    case .notificationClosed:
      try methods.notificationClosed(call.decode(NotificationClosed.Input.self), caller)
    case .notificationFailed:
      try methods.notificationFailed(call.decode(NotificationFailed.Input.self), caller)
    }
  }
}

extension SessionInterface {
  /// Makes the caller the session agent of its user. The caller must set `more`, because each reply
  /// is an order to the agent; exactly one field of an order is set. The first order is `attached`.
  /// After this order, the agent reports all windows if it knows them. The daemon repeats the
  /// orders to show or to close notifications, and the orders that set badges. The order
  /// `synchronized` follows the last of these orders. The agent then closes all other notifications
  /// of the daemon, and removes all other badges. Before `synchronized`, the agent reports nothing
  /// about notifications.
  ///
  /// If systemd keeps the connection during a restart of the daemon, the restarted daemon sends
  /// `attached` again, with the same attachment number, and the agent reports all windows again.
  ///
  /// After `attached`, the agent also reports all streams and all media players if it knows them.
  /// The daemon repeats the orders that mute streams, change volumes and measure streams, and the
  /// order that shows the media player `taskschedd` if there is one. It also repeats each order to
  /// end a mute or to restore a volume, if no report has confirmed that order, and then the last
  /// order `confirm`. Before the agent stops, it undoes all mutes and changes of volumes.
  ///
  /// After `attached`, the agent also reports whether GeoClue is available, as soon as it knows
  /// this. It reports no location until the daemon orders locations. The daemon orders them after
  /// each `attached` if it needs them.
  ///
  /// An agent that attached earlier receives the error AgentReplaced. A process that belongs to an
  /// application receives the error AgentIsManaged.
  public enum Attach: InterfaceMethod {
    public static let name = "org.taskschedd.Session.Attach"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      /// The number of this attachment, which each report contains.
      public var attached: Int?
      /// Show this notification.
      public var show: Notification?
      /// Close this notification, or do not show it. The agent then calls NotificationClosed.
      public var close: WithdrawnNotification?
      public var badge: Badge?
      /// True when the daemon has sent all notifications and badges.
      public var synchronized: Bool?
      public var mute: AudioMute?
      public var volume: AudioVolume?
      public var measure: AudioMeasurement?
      /// A number from 1. When the agent has sent all earlier orders `mute` and `volume` to the
      /// audio server, it requests the streams again, and reports them with this number in
      /// `confirmed`. The agent does not send an order that it ignores, for example because the
      /// stream has ended.
      public var confirm: Int?
      public var command: PlayerCommand?
      public var player: PresentedPlayer?
      public var location: LocationOrder?

      public static let fieldNames = [
        "attached", "show", "close", "badge", "synchronized", "mute", "volume", "measure",
        "confirm", "command", "player", "location",
      ]

      public init(
        attached: Int? = nil, show: Notification? = nil, close: WithdrawnNotification? = nil,
        badge: Badge? = nil, synchronized: Bool? = nil, mute: AudioMute? = nil,
        volume: AudioVolume? = nil, measure: AudioMeasurement? = nil, confirm: Int? = nil,
        command: PlayerCommand? = nil, player: PresentedPlayer? = nil,
        location: LocationOrder? = nil
      ) {
        self.attached = attached
        self.show = show
        self.close = close
        self.badge = badge
        self.synchronized = synchronized
        self.mute = mute
        self.volume = volume
        self.measure = measure
        self.confirm = confirm
        self.command = command
        self.player = player
        self.location = location
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attached = try fields.optional("attached")
        show = try fields.optional("show")
        close = try fields.optional("close")
        badge = try fields.optional("badge")
        synchronized = try fields.optional("synchronized")
        mute = try fields.optional("mute")
        volume = try fields.optional("volume")
        measure = try fields.optional("measure")
        confirm = try fields.optional("confirm")
        command = try fields.optional("command")
        player = try fields.optional("player")
        location = try fields.optional("location")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attached", attached)
        object.append(field: "show", show)
        object.append(field: "close", close)
        object.append(field: "badge", badge)
        object.append(field: "synchronized", synchronized)
        object.append(field: "mute", mute)
        object.append(field: "volume", volume)
        object.append(field: "measure", measure)
        object.append(field: "confirm", confirm)
        object.append(field: "command", command)
        object.append(field: "player", player)
        object.append(field: "location", location)
      }
    }
  }
}

extension SessionInterface {
  /// Reports all windows of the session, at most 1024. If the report contains no window of a
  /// process, the daemon assumes that the process has none. The report omits windows whose process
  /// is not known, but `hasFocus` takes them into account.
  ///
  /// `hasFocus` is true if any window has the focus. It is false on an empty workspace.
  public enum ReportWindows: InterfaceMethod {
    public static let name = "org.taskschedd.Session.ReportWindows"

    public struct Input: WireStructure {
      public var attachment: Int
      public var windows: [Window]
      public var hasFocus: Bool

      public static let fieldNames = ["attachment", "windows", "hasFocus"]

      public init(attachment: Int, windows: [Window], hasFocus: Bool) {
        self.attachment = attachment
        self.windows = windows
        self.hasFocus = hasFocus
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        windows = try fields.required("windows")
        hasFocus = try fields.required("hasFocus")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "windows", windows)
        object.append(field: "hasFocus", hasFocus)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports that nothing is known about the windows any more, because the compositor or X server
  /// has ended. The last report stays in effect for SessionGraceTime (10 s by default).
  public enum ForgetWindows: InterfaceMethod {
    public static let name = "org.taskschedd.Session.ForgetWindows"

    public struct Input: WireStructure {
      public var attachment: Int

      public static let fieldNames = ["attachment"]

      public init(attachment: Int) {
        self.attachment = attachment
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports all streams of the user's audio server, at most 1024. `server` is null if no server
  /// runs; `streams` is then empty. Streams whose process is not known are not in the report.
  ///
  /// `confirmed` is the number of the last order `confirm` since `attached` that this report or an
  /// earlier one answers; 0 if there is none. A report answers the order only if the agent had sent
  /// all earlier orders to the audio server when it requested `streams`. Without the number, the
  /// daemon would not know whether a stream is unmuted because a mute has ended or because it has
  /// not begun.
  public enum ReportAudio: InterfaceMethod {
    public static let name = "org.taskschedd.Session.ReportAudio"

    public struct Input: WireStructure {
      public var attachment: Int
      public var server: AudioServer?
      public var streams: [AudioStream]
      public var confirmed: Int

      public static let fieldNames = ["attachment", "server", "streams", "confirmed"]

      public init(
        attachment: Int, server: AudioServer? = nil, streams: [AudioStream], confirmed: Int
      ) {
        self.attachment = attachment
        self.server = server
        self.streams = streams
        self.confirmed = confirmed
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        server = try fields.optional("server")
        streams = try fields.required("streams")
        confirmed = try fields.required("confirmed")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "server", server)
        object.append(field: "streams", streams)
        object.append(field: "confirmed", confirmed)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports all media players on the session bus, at most 256, except
  /// org.mpris.MediaPlayer2.taskschedd. The agent reports them whenever they change.
  public enum ReportPlayers: InterfaceMethod {
    public static let name = "org.taskschedd.Session.ReportPlayers"

    public struct Input: WireStructure {
      public var attachment: Int
      public var players: [Player]

      public static let fieldNames = ["attachment", "players"]

      public init(attachment: Int, players: [Player]) {
        self.attachment = attachment
        self.players = players
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        players = try fields.required("players")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "players", players)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports that a program has called a media player. If the player is suspended, the call waits
  /// in the player's socket, and the daemon resumes the player so that it can answer. After a
  /// command, the player runs for EventTime (10 s by default). After a read, it runs for
  /// RemoteReadTime (1 s by default), at most once in RemoteReadInterval (5 s by default).
  public enum PlayerCalled: InterfaceMethod {
    public static let name = "org.taskschedd.Session.PlayerCalled"

    public struct Input: WireStructure {
      public var attachment: Int
      public var player: String
      public var call: PlayerCall

      public static let fieldNames = ["attachment", "player", "call"]

      public init(attachment: Int, player: String, call: PlayerCall) {
        self.attachment = attachment
        self.player = player
        self.call = call
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        player = try fields.required("player")
        call = try fields.required("call")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "player", player)
        object.append(field: "call", call)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports that a program has sent a command to org.mpris.MediaPlayer2.taskschedd.
  public enum PlayerCommanded: InterfaceMethod {
    public static let name = "org.taskschedd.Session.PlayerCommanded"

    public struct Input: WireStructure {
      public var attachment: Int
      public var command: RemoteCommand
      public var offsetUSec: Int?

      public static let fieldNames = ["attachment", "command", "offsetUSec"]

      public init(attachment: Int, command: RemoteCommand, offsetUSec: Int? = nil) {
        self.attachment = attachment
        self.command = command
        self.offsetUSec = offsetUSec
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        command = try fields.required("command")
        offsetUSec = try fields.optional("offsetUSec")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "command", command)
        object.append(field: "offsetUSec", offsetUSec)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports whether GeoClue is available to the user. GeoClue is available if it runs or the
  /// system bus can start it, and if the agent's last attempt to use it did not fail. The agent
  /// reports each change. Before the first report, the daemon treats GeoClue as not available.
  public enum ReportLocationSource: InterfaceMethod {
    public static let name = "org.taskschedd.Session.ReportLocationSource"

    public struct Input: WireStructure {
      public var attachment: Int
      public var available: Bool

      public static let fieldNames = ["attachment", "available"]

      public init(attachment: Int, available: Bool) {
        self.attachment = attachment
        self.available = available
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        available = try fields.required("available")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "available", available)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports a location. The agent makes this report only while the daemon orders locations, at
  /// most 10 times a second. The daemon ignores a location that it has not ordered.
  public enum ReportLocation: InterfaceMethod {
    public static let name = "org.taskschedd.Session.ReportLocation"

    public struct Input: WireStructure {
      public var attachment: Int
      public var location: Location

      public static let fieldNames = ["attachment", "location"]

      public init(attachment: Int, location: Location) {
        self.attachment = attachment
        self.location = location
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        location = try fields.required("location")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "location", location)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports that the notification service shows a notification. The agent makes this report again
  /// when the daemon replaces the notification.
  public enum NotificationShown: InterfaceMethod {
    public static let name = "org.taskschedd.Session.NotificationShown"

    public struct Input: WireStructure {
      public var attachment: Int
      public var notification: Int
      public var shown: ShownNotification

      public static let fieldNames = ["attachment", "notification", "shown"]

      public init(attachment: Int, notification: Int, shown: ShownNotification) {
        self.attachment = attachment
        self.notification = notification
        self.shown = shown
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        notification = try fields.required("notification")
        shown = try fields.required("shown")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "notification", notification)
        object.append(field: "shown", shown)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports that the user has chosen a notification, or one of its actions. `activationToken` is
  /// the token by which the compositor gives the focus to the application.
  public enum NotificationChosen: InterfaceMethod {
    public static let name = "org.taskschedd.Session.NotificationChosen"

    public struct Input: WireStructure {
      public var attachment: Int
      public var notification: Int
      public var action: String?
      public var activationToken: String?

      public static let fieldNames = ["attachment", "notification", "action", "activationToken"]

      public init(
        attachment: Int, notification: Int, action: String? = nil, activationToken: String? = nil
      ) {
        self.attachment = attachment
        self.notification = notification
        self.action = action
        self.activationToken = activationToken
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        notification = try fields.required("notification")
        action = try fields.optional("action")
        activationToken = try fields.optional("activationToken")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "notification", notification)
        object.append(field: "action", action)
        object.append(field: "activationToken", activationToken)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports that the notification service no longer shows a notification, or never showed it.
  public enum NotificationClosed: InterfaceMethod {
    public static let name = "org.taskschedd.Session.NotificationClosed"

    public struct Input: WireStructure {
      public var attachment: Int
      public var notification: Int

      public static let fieldNames = ["attachment", "notification"]

      public init(attachment: Int, notification: Int) {
        self.attachment = attachment
        self.notification = notification
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        notification = try fields.required("notification")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "notification", notification)
      }
    }

    public typealias Output = NoFields
  }
}

extension SessionInterface {
  /// Reports that the agent cannot show a notification. `reason` is for the log. The agent keeps
  /// the notification and shows it as soon as possible, unless the notification service refused it.
  public enum NotificationFailed: InterfaceMethod {
    public static let name = "org.taskschedd.Session.NotificationFailed"

    public struct Input: WireStructure {
      public var attachment: Int
      public var notification: Int
      public var reason: String
      public var isRefused: Bool

      public static let fieldNames = ["attachment", "notification", "reason", "isRefused"]

      public init(attachment: Int, notification: Int, reason: String, isRefused: Bool) {
        self.attachment = attachment
        self.notification = notification
        self.reason = reason
        self.isRefused = isRefused
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        attachment = try fields.required("attachment")
        notification = try fields.required("notification")
        reason = try fields.required("reason")
        isRefused = try fields.required("isRefused")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "attachment", attachment)
        object.append(field: "notification", notification)
        object.append(field: "reason", reason)
        object.append(field: "isRefused", isRefused)
      }
    }

    public typealias Output = NoFields
  }
}
