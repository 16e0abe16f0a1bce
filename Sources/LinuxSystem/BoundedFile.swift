import Glibc

/// The reason why a small text file could not be read.
public enum BoundedFileError: Error, Hashable, Sendable {
  /// The file does not exist. `isDangling` is true if the path is a symbolic link without a target.
  case missing(isDangling: Bool)
  /// The file is not of the expected kind; `what` names its kind ("a directory", "not a
  /// directory").
  case notAFile(what: String)
  /// The file has more bytes than allowed.
  case tooLarge(bytesMax: Int)
  /// A system call failed.
  case failed(SystemError)
}

/// The properties of a file, directory or device. For a symbolic link, the properties of its
/// target.
public struct FileStatus: Hashable, Sendable {
  /// The owner's uid.
  public var owner: UInt32
  /// Permission bits: `0o7777` of `st_mode`.
  public var permissions: UInt32
  public var isRegularFile: Bool
  public var isDirectory: Bool
  public var isSocket: Bool
  /// The length in bytes.
  public var bytesCount: Int
  /// Whether this is the null device. An administrator masks a configuration file by a link to the
  /// null device.
  public var isNullDevice: Bool
  /// The kind of file in messages: "a file", "a directory", "a pipe", "a socket", "a device".
  public var kindName: String

  init(_ status: stat) {
    owner = status.st_uid
    permissions = status.st_mode & 0o7777
    let kind = status.st_mode & S_IFMT
    isRegularFile = kind == S_IFREG
    isDirectory = kind == S_IFDIR
    bytesCount = Int(status.st_size)
    isSocket = kind == S_IFSOCK
    // The null device is character device 1:3 (Linux, Documentation/admin-guide/devices.txt).
    // For numbers this small, a dev_t is the major number shifted left by 8 bits, plus the minor
    // number.
    isNullDevice = kind == S_IFCHR && status.st_rdev == 1 << 8 | 3
    kindName =
      switch kind {
      case S_IFREG: "a file"
      case S_IFDIR: "a directory"
      case S_IFIFO: "a pipe"
      case S_IFSOCK: "a socket"
      default: "a device"
      }
  }
}

/// The content of a text file, and the properties of the same file.
public struct BoundedFile: Hashable, Sendable {
  public var bytes: [UInt8]
  public var facts: FileStatus

  /// Reads a regular file of at most `bytesMax` bytes. Treats the null device as an empty file.
  /// Refuses every other kind of file, because a read could block or change something.
  public init(path: String, bytesMax: Int) throws(BoundedFileError) {
    let descriptor = FileDescriptor(taking: try Self.open(path))
    facts = try Self.facts(of: descriptor.rawValue)
    if facts.isNullDevice {
      bytes = []
      return
    }
    guard facts.isRegularFile else { throw .notAFile(what: facts.kindName) }
    bytes = try Self.read(descriptor.rawValue, bytesMax: bytesMax)
  }

  /// Returns the first bytes of a regular file, at most `bytesMax`. The file may be longer.
  public static func beginning(
    of path: String, bytesMax: Int
  ) throws(BoundedFileError) -> [UInt8] {
    let descriptor = FileDescriptor(taking: try open(path))
    let facts = try facts(of: descriptor.rawValue)
    guard facts.isRegularFile else { throw .notAFile(what: facts.kindName) }
    return try read(descriptor.rawValue, bytesMax: bytesMax, isCut: true)
  }

  private static func open(_ path: String) throws(BoundedFileError) -> CInt {
    do {
      return try check("open") { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    } catch {
      throw openError(path: path, error)
    }
  }

  private static func facts(of descriptor: CInt) throws(BoundedFileError) -> FileStatus {
    var status = stat()
    do {
      try check("fstat") { fstat(descriptor, &status) }
    } catch {
      throw .failed(error)
    }
    return FileStatus(status)
  }

  /// Reads a file. Counts the bytes that it reads, because the file may grow and because files in
  /// /proc report no size.
  private static func read(
    _ descriptor: CInt, bytesMax: Int, isCut: Bool = false
  ) throws(BoundedFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      let count: Int
      do {
        count = try check("read") { Glibc.read(descriptor, &chunk, chunk.count) }
      } catch {
        throw .failed(error)
      }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count > bytesMax else { continue }
      guard isCut else { throw .tooLarge(bytesMax: bytesMax) }
      return Array(bytes.prefix(bytesMax))
    }
  }

  private static func openError(path: String, _ error: SystemError) -> BoundedFileError {
    var status = stat()
    switch error.errno {
    case ENOENT, ENOTDIR: return .missing(isDangling: lstat(path, &status) == 0)
    // open(2) fails with ENXIO for every socket.
    case ENXIO: return .notAFile(what: "a socket")
    default: return .failed(error)
    }
  }
}

extension FileStatus {
  /// Returns the properties of the file at `path`; nil if it does not exist or is not accessible.
  public init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}

/// Functions for directories and paths.
public enum Directory {
  /// Returns the names in a directory, sorted bytewise, without `.` and `..`; empty if the
  /// directory does not exist.
  public static func names(path: String) throws(BoundedFileError) -> [String] {
    guard let stream = opendir(path) else {
      if errno == ENOENT { return [] }
      if errno == ENOTDIR { throw .notAFile(what: "not a directory") }
      throw .failed(SystemError(call: "opendir", errno: errno))
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns whether the path is a symbolic link.
  public static func isLink(path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Returns the path with all symbolic links resolved; nil if the file does not exist.
  public static func resolved(path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Returns whether `path` is a regular file that this process may execute.
  public static func isExecutableFile(path: String) -> Bool {
    FileStatus(path: path)?.isRegularFile == true && access(path, X_OK) == 0
  }
}
