import LinuxSystem

/// The names of users.
enum UserName {
  /// Returns the user's name, or the uid in digits for a user without a name.
  static func of(_ uid: Int) -> String {
    guard let number = UInt32(exactly: uid), let user = try? Users.user(uid: number) else {
      return "\(uid)"
    }
    return user.name
  }
}
