extension Duration {
  /// The whole microseconds of the duration, at most `Int.max`.
  package var microseconds: Int {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : Int(clamping: whole) + Int(attoseconds / 1_000_000_000_000)
  }
}
