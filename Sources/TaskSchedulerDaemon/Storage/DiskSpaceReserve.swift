import LinuxSystem

/// A reserve of disk space in a file next to a store. With this reserve, users can remove contents
/// of the store, such as notifications, even if the disk is full. SQLite needs some disk space even
/// for a removal, and the daemon deletes this file to provide the space.
///
/// SQLite checkpoints the store's write-ahead log (WAL) before the log becomes as large as this
/// file. The freed space thus suffices for a removal and a checkpoint. After a removal that needed
/// the reserve, the store checkpoints and truncates the WAL. Then it allocates the reserve again,
/// if no other program has taken the space.
final class DiskSpaceReserve {
  private let path: String
  private let bytesMax: Int
  /// The size of the file, or its planned size if it is not allocated.
  private(set) var bytes: Int
  private var isAllocated: Bool

  /// The minimum size: enough for a single removal.
  static let bytesMin = 64 << 10

  /// - Parameters:
  ///   - path: The path of the file. An earlier daemon may have left it there.
  ///   - bytesMax: The maximum size.
  init(path: String, bytesMax: Int) {
    self.path = path
    self.bytesMax = bytesMax
    bytes = Directory.allocatedBytes(path: path)
    isAllocated = bytes >= Self.bytesMin
  }

  /// Allocates the space if it is not allocated. The first time, allocates at most a quarter of the
  /// free space.
  func allocate() {
    guard !isAllocated else { return }
    if bytes < Self.bytesMin {
      bytes = min(bytesMax, ((try? Directory.freeBytes(path: path)) ?? 0) / 4)
    }
    guard bytes >= Self.bytesMin else { return }
    do throws(SystemError) {
      try Directory.makeFile(path: path, bytesCount: bytes)
      isAllocated = true
    } catch {
      try? Directory.remove(path: path)
    }
  }

  /// Frees the space.
  ///
  /// - Returns: Whether the call has freed space.
  func release() -> Bool {
    guard isAllocated else { return false }
    isAllocated = false
    do throws(SystemError) {
      try Directory.remove(path: path)
      return true
    } catch {
      return false
    }
  }
}
