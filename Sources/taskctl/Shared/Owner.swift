import ArgumentParser
import LinuxSystem

/// A user, as the owner of applications.
struct Owner: Hashable, Sendable {
  var uid: Int

  /// Creates an owner from a user name or a uid in digits.
  ///
  /// - Throws: `ValidationError` if this machine has no user of that name.
  init(parsing text: String) throws {
    if let user = try Users.user(named: text) {
      uid = Int(user.uid)
    } else if let number = UInt32(text) {
      uid = Int(number)
    } else {
      throw ValidationError("there is no user '\(PrintableText.of(text))' on this machine")
    }
  }
}
