/// Formats numbers of bytes for users.
enum ByteText {
  /// Returns a size such as `3.5 MiB`, in the largest unit in which it is at least 1. The number
  /// has one decimal if it is less than 100, except in bytes.
  static func of(_ bytes: UInt64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    if unit == 0 || value >= 99.95 { return "\(Int(value.rounded())) \(units[unit])" }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}
