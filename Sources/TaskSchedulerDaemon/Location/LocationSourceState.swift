/// The state of a source of locations, for operators.
struct LocationSourceState: Equatable {
  /// The name of the source: `gpsd`, `modem` or `access point`.
  var name: String
  var isAvailable: Bool
  /// The reason why the source is not available, or another problem of the source; nil if there is
  /// no problem.
  var problem: String?
}
