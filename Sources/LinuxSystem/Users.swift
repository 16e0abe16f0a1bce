import Glibc

/// A user in the name services of the machine.
public struct User: Hashable, Sendable {
  public var name: String
  public var uid: UInt32
  /// The primary group.
  public var gid: UInt32
  public var home: String
  public var shell: String
}

/// The user and group databases (NSS). All functions except `names` are thread-safe. For an unknown
/// name or id, the functions return nil.
public enum Users {
  /// Returns the user of a login name.
  public static func user(named name: String) throws(SystemError) -> User? {
    try lookUpUser("getpwnam_r") { getpwnam_r(name, $0, $1, $2, $3) }
  }

  /// Returns the user of a uid.
  public static func user(uid: UInt32) throws(SystemError) -> User? {
    try lookUpUser("getpwuid_r") { getpwuid_r(uid, $0, $1, $2, $3) }
  }

  /// Returns the login names of all users that the name services list. Not thread-safe
  /// (getpwent(3)).
  public static func names() -> [String] {
    var names: [String] = []
    setpwent()
    defer { endpwent() }
    while let entry = getpwent() { names.append(String(cString: entry.pointee.pw_name)) }
    return names
  }

  /// Returns the id of a group.
  public static func group(named name: String) throws(SystemError) -> UInt32? {
    var entry = Glibc.group()
    return try lookUp("getgrnam_r") { buffer -> (Int32, UInt32?) in
      var found: UnsafeMutablePointer<Glibc.group>?
      let code = getgrnam_r(name, &entry, buffer.baseAddress!, buffer.count, &found)
      return (code, found?.pointee.gr_gid)
    }
  }

  /// Returns the id of a group in a group(5) file; nil if the file does not contain it or does not
  /// exist. Does not call a name service, which could block.
  public static func group(named name: String, inFile path: String) -> UInt32? {
    guard let bytes = try? FileDescriptor.open(reading: path).readToEnd() else { return nil }
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      guard fields.count >= 3, fields[0].elementsEqual(name.utf8) else { continue }
      return UInt32(String(decoding: fields[2], as: UTF8.self))
    }
    return nil
  }

  /// Returns all groups of a user, including the primary group.
  public static func groups(of user: User) -> [UInt32] {
    var groups = [gid_t](repeating: 0, count: 64)
    while true {
      var count = Int32(groups.count)
      if getgrouplist(user.name, user.gid, &groups, &count) >= 0 {
        return Array(groups.prefix(Int(count)))
      }
      groups = [gid_t](repeating: 0, count: max(Int(count), groups.count * 2))
    }
  }

  /// The effective user id of this process.
  public static var effectiveUID: UInt32 { geteuid() }

  /// The effective group id of this process.
  public static var effectiveGID: UInt32 { getegid() }

  private static func lookUpUser(
    _ call: String,
    _ body: (
      UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
      UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32
  ) throws(SystemError) -> User? {
    var entry = passwd()
    return try lookUp(call) { buffer -> (Int32, User?) in
      var found: UnsafeMutablePointer<passwd>?
      let code = body(&entry, buffer.baseAddress!, buffer.count, &found)
      guard code == 0, let found else { return (code, nil) }
      // The strings are in the buffer, and must be copied before the buffer is freed.
      let user = User(
        name: String(cString: found.pointee.pw_name), uid: found.pointee.pw_uid,
        gid: found.pointee.pw_gid, home: String(cString: found.pointee.pw_dir),
        shell: String(cString: found.pointee.pw_shell))
      return (code, user)
    }
  }

  /// Calls `body` with larger and larger buffers until a buffer is large enough. `body` returns the
  /// errno of the name service. Several errnos mean that the name is unknown (getpwnam(3)).
  private static func lookUp<Value>(
    _ call: String, _ body: (UnsafeMutableBufferPointer<CChar>) -> (Int32, Value?)
  ) throws(SystemError) -> Value? {
    var size = 1024
    while true {
      let (code, value) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size, body)
      switch code {
      case 0: return value
      case ENOENT, ESRCH, EBADF, EPERM: return nil
      case EINTR: continue
      case ERANGE where size < 1 << 20: size *= 2
      default: throw SystemError(call: call, errno: code)
      }
    }
  }
}
