import Glibc

/// The resource limits of this process.
public enum ResourceLimits {
  /// The soft limit on open files (RLIMIT_NOFILE) before and after ``raiseOpenFiles()``.
  public struct OpenFiles: Hashable, Sendable {
    public var softBefore: UInt64
    public var soft: UInt64
    /// The limit for children (`SpawnRequest.openFilesSoft`). Programs that use select(2) cannot
    /// use more than 1024 descriptors.
    public var forChildren: UInt64 { min(softBefore, 1024) }
  }

  /// Raises the soft limit on open files to the hard limit.
  @discardableResult
  public static func raiseOpenFiles() throws(SystemError) -> OpenFiles {
    var limit = rlimit()
    try check("getrlimit") { getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
    let before = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    try check("setrlimit") { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
    return OpenFiles(softBefore: UInt64(before), soft: UInt64(limit.rlim_cur))
  }
}
