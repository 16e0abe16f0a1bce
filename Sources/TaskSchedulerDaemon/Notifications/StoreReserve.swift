import LinuxSystem

/// A file beside the store that takes up space of the disk, so that a full disk does not keep users
/// from cancelling: SQLite needs some pages for a removal, too, and gets those of this file.
///
/// It has more space than the part of the store's log that is not in the database yet. So after a
/// removal the log goes into the database, is cut, and the reserve is taken again, where no other
/// program has taken the space meanwhile.
final class StoreReserve {
  private let path: String
  /// How large it is, or is to be.
  private(set) var bytes: Int
  private var isTaken: Bool

  /// Enough for the largest removal with the log.
  static let bytesMax = 4 << 20
  /// What a single removal takes.
  static let bytesMin = 64 << 10

  /// - Parameter path: of the file, which an earlier daemon may have left.
  init(path: String) {
    self.path = path
    bytes = Folder.allocatedBytes(path: path)
    isTaken = bytes >= Self.bytesMin
  }

  /// Takes the space, unless it is taken: the first time, at most a quarter of what is free.
  func take() {
    guard !isTaken else { return }
    if bytes < Self.bytesMin {
      bytes = min(Self.bytesMax, ((try? Folder.freeBytes(path: path)) ?? 0) / 4)
    }
    guard bytes >= Self.bytesMin else { return }
    do throws(SystemError) {
      try Folder.makeFile(path: path, bytesCount: bytes)
      isTaken = true
    } catch {
      try? Folder.remove(path: path)
    }
  }

  /// Gives the space up.
  ///
  /// - Returns: false where there was none.
  func giveUp() -> Bool {
    guard isTaken else { return false }
    isTaken = false
    do throws(SystemError) {
      try Folder.remove(path: path)
      return true
    } catch {
      return false
    }
  }
}
