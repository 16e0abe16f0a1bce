/// The reason why the agent cannot report the location.
package enum GeoClueProblem: Hashable, Sendable, CustomStringConvertible {
  /// GeoClue has not answered for a while.
  case noAnswer
  /// GeoClue has refused to send locations.
  case refused(String)
  /// The bus cannot start GeoClue.
  case notStarted(String)
  /// The user has switched the location off.
  case switchedOff
  /// GeoClue has sent a location that is no place on the earth. The agent waits for the next one.
  case invalidLocation

  package var description: String {
    switch self {
    case .noAnswer:
      "waiting for GeoClue, which needs a GeoClue agent of this user, or the user's permission"
    case .refused(let reason): "GeoClue refuses to report the location: \(reason)"
    case .notStarted(let reason): "the system bus cannot start GeoClue: \(reason)"
    case .switchedOff: "the user has switched the location off"
    case .invalidLocation: "GeoClue has reported a location that is no place on the earth"
    }
  }
}
