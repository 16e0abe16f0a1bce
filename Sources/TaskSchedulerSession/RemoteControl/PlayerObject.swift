import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// A property of the media player `taskschedd`.
struct PlayerProperty: Equatable {
  /// A value of a property.
  enum Value: Equatable {
    case text(String)
    case texts([String])
    case flag(Bool)
    case ratio(Double)
    case microseconds(Int64)
    /// The metadata of a track: only the identity of the track.
    case track(String)

    /// The type in the notation of D-Bus.
    var type: String {
      switch self {
      case .text: "s"
      case .texts: "as"
      case .flag: "b"
      case .ratio: "d"
      case .microseconds: "x"
      case .track: "a{sv}"
      }
    }

    fileprivate func append(to body: MessageBody) throws(SystemError) {
      switch self {
      case .text(let text): try body.append(text)
      case .texts(let texts): try body.append(texts)
      case .flag(let flag): try body.append(flag)
      case .ratio(let ratio): try body.append(ratio)
      case .microseconds(let time): try body.append(time)
      case .track(let id):
        try body.array("{sv}") { () throws(SystemError) in
          try body.entry("sv") { () throws(SystemError) in
            try body.append("mpris:trackid")
            try body.variant("o") { () throws(SystemError) in try body.append(objectPath: id) }
          }
        }
      }
    }
  }

  var name: String
  var value: Value

  /// Appends the value as a variant.
  func appendValue(to body: MessageBody) throws(SystemError) {
    try body.variant(value.type) { () throws(SystemError) in try value.append(to: body) }
  }

  /// Appends a dictionary of properties.
  static func append(_ properties: [PlayerProperty], to body: MessageBody) throws(SystemError) {
    try body.array("{sv}") { () throws(SystemError) in
      for property in properties {
        try body.entry("sv") { () throws(SystemError) in
          try body.append(property.name)
          try property.appendValue(to: body)
        }
      }
    }
  }
}

/// The object of the media player `taskschedd`, as MPRIS 2.2 describes it.
struct PlayerObject {
  private let applicationID: String
  private let applicationName: String
  private let isPlaying: Bool

  init(_ player: SessionInterface.PresentedPlayer) {
    func name(_ text: String?) -> String {
      DesktopText.line(text ?? "", bytesMax: DesktopText.nameBytesMax)
    }
    applicationID = name(player.application)
    applicationName = name(player.applicationName ?? player.application)
    isPlaying = player.playing
  }

  /// The interfaces with properties.
  static let interfaces = [MediaPlayer.rootInterface, MediaPlayer.playerInterface]

  /// Returns the properties of an interface; nil if the player does not have the interface.
  func properties(of interface: String) -> [PlayerProperty]? {
    switch interface {
    case MediaPlayer.rootInterface: rootProperties
    case MediaPlayer.playerInterface: playerProperties
    case _: nil
    }
  }

  private var rootProperties: [PlayerProperty] {
    [
      PlayerProperty(name: "Identity", value: .text(applicationName)),
      PlayerProperty(name: "DesktopEntry", value: .text(applicationID)),
      PlayerProperty(name: "CanQuit", value: .flag(false)),
      PlayerProperty(name: "CanRaise", value: .flag(false)),
      PlayerProperty(name: "HasTrackList", value: .flag(false)),
      PlayerProperty(name: "SupportedUriSchemes", value: .texts([])),
      PlayerProperty(name: "SupportedMimeTypes", value: .texts([])),
    ]
  }

  /// The properties of the player interface. They permit all commands, because an application does
  /// not say which commands it understands.
  private var playerProperties: [PlayerProperty] {
    let values = [
      PlayerProperty(name: "PlaybackStatus", value: .text(isPlaying ? "Playing" : "Paused")),
      PlayerProperty(name: "Rate", value: .ratio(1)),
      PlayerProperty(name: "MinimumRate", value: .ratio(1)),
      PlayerProperty(name: "MaximumRate", value: .ratio(1)),
      PlayerProperty(name: "Volume", value: .ratio(1)),
      PlayerProperty(name: "Position", value: .microseconds(0)),
      PlayerProperty(name: "Metadata", value: .track("/org/taskschedd/track")),
    ]
    let abilities = ["GoNext", "GoPrevious", "Play", "Pause", "Seek", "Control"]
    return values + abilities.map { PlayerProperty(name: "Can\($0)", value: .flag(true)) }
  }

  /// The description of the object for `org.freedesktop.DBus.Introspectable`.
  var introspection: String {
    var lines = ["<node>"]
    for interface in Self.interfaces {
      lines.append("<interface name=\"\(interface)\">")
      lines += Self.methods(of: interface)
      for property in properties(of: interface) ?? [] {
        let (name, type) = (property.name, property.value.type)
        lines.append("<property name=\"\(name)\" type=\"\(type)\" access=\"read\"/>")
      }
      lines.append("</interface>")
    }
    lines += [Self.standardInterfaces, "</node>", ""]
    return lines.joined(separator: "\n")
  }

  private static func methods(of interface: String) -> [String] {
    var signatures: [(String, String)] = []
    if interface == MediaPlayer.rootInterface {
      signatures = [("Raise", ""), ("Quit", "")]
    } else {
      for command in SessionInterface.RemoteCommand.allCases {
        signatures.append((command.playerMethod, command == .seek ? "x" : ""))
      }
      signatures += [("SetPosition", "ox"), ("OpenUri", "s")]
    }
    return signatures.map { name, inputs in
      let arguments = inputs.map { "<arg type=\"\($0)\" direction=\"in\"/>" }
      return "<method name=\"\(name)\">\(arguments.joined())</method>"
    }
  }

  private static let standardInterfaces = """
    <interface name="org.freedesktop.DBus.Properties">
    <method name="Get"><arg type="s" direction="in"/><arg type="s" direction="in"/>\
    <arg type="v" direction="out"/></method>
    <method name="GetAll"><arg type="s" direction="in"/>\
    <arg type="a{sv}" direction="out"/></method>
    <method name="Set"><arg type="s" direction="in"/><arg type="s" direction="in"/>\
    <arg type="v" direction="in"/></method>
    <signal name="PropertiesChanged"><arg type="s"/><arg type="a{sv}"/><arg type="as"/></signal>
    </interface>
    <interface name="org.freedesktop.DBus.Introspectable">
    <method name="Introspect"><arg type="s" direction="out"/></method>
    </interface>
    <interface name="org.freedesktop.DBus.Peer">
    <method name="Ping"/><method name="GetMachineId"><arg type="s" direction="out"/></method>
    </interface>
    """
}
