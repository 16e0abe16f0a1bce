import CLinux
import Glibc

/// Limits of our own process.
public enum ResourceLimits {
  /// Lets the first thread's heap grow by so many bytes at a time, and each other's begin with as
  /// many (glibc's standard: 128 KiB). What is not used of them takes no memory.
  public static func growHeap(by bytes: Int32) {
    _ = clinux_heap_step(bytes)
  }

  /// RLIMIT_NOFILE before and after.
  public struct OpenFiles: Hashable, Sendable {
    public var softBefore: UInt64
    public var soft: UInt64
    /// What children should get back (`SpawnRequest.openFilesSoft`): programs that use select(2)
    /// fail with more than 1024, and a service may have been given more.
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
