import LinuxSystem

/// The media players on the bus: the owner of each name, and the process of each owner.
struct PlayerTable {
  /// The maximum number of players in a report.
  static let playersMax = 256

  /// The unique name of the owner of each player's name.
  private var owners: [String: String] = [:]
  /// The process of each owner, as far as it is known.
  private var processes: [String: ProcessIdentity] = [:]

  /// Sets the owner of a player's name. A nil owner means that the name has left the bus.
  ///
  /// - Returns: The owner if its process is not known; otherwise nil.
  mutating func setOwner(_ owner: String?, of name: String) -> String? {
    let before = owners[name]
    owners[name] = owner
    if let before, !owners.values.contains(before) { processes[before] = nil }
    return owner.flatMap { processes[$0] == nil ? $0 : nil }
  }

  /// Sets the process of an owner. Ignores an owner that no longer has the name of a player.
  mutating func setProcess(_ process: ProcessIdentity, of owner: String) {
    if owners.values.contains(owner) { processes[owner] = process }
  }

  /// Returns whether a player has the name.
  func hasPlayer(_ name: String) -> Bool { owners[name] != nil }

  /// Returns the name of the player to which a message is sent; nil if the message is sent to
  /// another program. If one connection owns the names of several players, returns one of these
  /// names, because all belong to the same process.
  ///
  /// - Parameter destination: a well-known name, or the unique name of the owner.
  func player(at destination: String) -> String? {
    if owners[destination] != nil { return destination }
    return owners.filter { $0.value == destination }.keys.min()
  }

  /// All players whose process is known, ordered by name, at most ``playersMax``.
  var players: [MediaPlayer] {
    let known = owners.compactMap { name, owner in
      processes[owner].map { MediaPlayer(name: name, process: $0) }
    }
    return Array(known.sorted { $0.name < $1.name }.prefix(Self.playersMax))
  }
}
