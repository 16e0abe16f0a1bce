/// The state of a source of locations, for operators.
struct LocationSourceState: Equatable {
  /// The name of the source: `gpsd`, `modem` or `access point`.
  var name: String
  var isAvailable: Bool
  /// The reason why the source is not available, or what is wrong with it; nil if nothing is.
  var problem: String?
}
