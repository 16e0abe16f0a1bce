import ArgumentParser
import LinuxSystem

/// A user who runs applications.
struct Owner: Hashable, Sendable {
  var uid: Int

  /// From a name, or a uid in digits.
  ///
  /// - Throws: `ValidationError` for a name that the machine does not know.
  init(parsing text: String) throws {
    if let user = try Users.user(named: text) {
      uid = Int(user.uid)
    } else if let number = UInt32(text) {
      uid = Int(number)
    } else {
      throw ValidationError("there is no user '\(PrintableText.of(text))' on this machine")
    }
  }

  /// The user's name; the uid in digits where it has none.
  static func name(of uid: Int) -> String {
    guard let number = UInt32(exactly: uid), let user = try? Users.user(uid: number) else {
      return "\(uid)"
    }
    return user.name
  }
}
