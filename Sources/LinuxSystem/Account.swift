import Glibc

/// A user as the machine's account database knows it (`getpwnam_r`).
public struct Account: Hashable, Sendable {
  public var name: String
  public var uid: UInt32
  /// The primary group.
  public var gid: UInt32
  /// The home folder.
  public var home: String
  public var shell: String

  /// The account of this name; nil if there is none.
  public init?(name: String) {
    self.init { entry, buffer, bytes, result in
      getpwnam_r(name, entry, buffer, bytes, result)
    }
  }

  /// The account of this uid; nil if there is none.
  public init?(uid: UInt32) {
    self.init { entry, buffer, bytes, result in
      getpwuid_r(uid, entry, buffer, bytes, result)
    }
  }

  private init?(
    lookUp: (
      UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
      UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> CInt
  ) {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    // glibc's own suggestion for an entry is 1 kB; ERANGE asks for more, here up to 1 MiB.
    var bytes = 1024
    while bytes <= 1 << 20 {
      var buffer = [CChar](repeating: 0, count: bytes)
      let account: Account?? = buffer.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return .some(nil) }
        let status = lookUp(&entry, start, buffer.count, &found)
        if status == ERANGE { return .none }
        guard status == 0, found != nil else { return .some(nil) }
        return .some(Account(entry))
      }
      if let account {
        guard let account else { return nil }
        self = account
        return
      }
      bytes *= 4
    }
    return nil
  }

  private init(_ entry: passwd) {
    name = String(cString: entry.pw_name)
    uid = entry.pw_uid
    gid = entry.pw_gid
    home = String(cString: entry.pw_dir)
    shell = String(cString: entry.pw_shell)
  }

  /// The gid of the group of this name; nil if there is none.
  public static func groupID(named name: String) -> UInt32? {
    var entry = group()
    var found: UnsafeMutablePointer<group>?
    var bytes = 1024
    // A group's entry lists its members, so it may be long.
    while bytes <= 1 << 24 {
      var buffer = [CChar](repeating: 0, count: bytes)
      let status = getgrnam_r(name, &entry, &buffer, bytes, &found)
      if status != ERANGE { return status == 0 && found != nil ? entry.gr_gid : nil }
      bytes *= 4
    }
    return nil
  }
}
