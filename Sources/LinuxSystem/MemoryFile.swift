import CLinux
import Glibc

/// A file in memory that another process can receive.
public enum MemoryFile {
  /// Creates a file in memory that contains the bytes (memfd_create(2), with FD_CLOEXEC). Reading
  /// begins at the start of the file.
  ///
  /// - Parameter name: the name in /proc/PID/fd.
  /// - Throws: EMFILE, ENOMEM.
  public static func make(
    named name: String, holding bytes: [UInt8]
  ) throws(SystemError) -> FileDescriptor {
    let file = FileDescriptor(taking: try check("memfd_create") { clinux_memfd(name) })
    try write(bytes, to: file.rawValue)
    return file
  }

  /// Creates a file in memory that contains the bytes. Nothing can change its content or its size.
  ///
  /// - Parameter name: the name in /proc/PID/fd.
  /// - Throws: EMFILE, ENOMEM.
  public static func makeSealed(
    named name: String, holding bytes: [UInt8]
  ) throws(SystemError) -> FileDescriptor {
    let file = FileDescriptor(taking: try check("memfd_create") { clinux_sealable_memfd(name) })
    let number = file.rawValue
    try write(bytes, to: number)
    try check("fcntl F_ADD_SEALS") { clinux_seal(number) }
    return file
  }

  private static func write(_ bytes: [UInt8], to number: Int32) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try check("pwrite") {
        bytes.withUnsafeBytes {
          pwrite(number, $0.baseAddress! + written, $0.count - written, off_t(written))
        }
      }
    }
  }

  /// Opens the file of a descriptor again, for reading only. The new descriptor has an offset of
  /// its own, which begins at 0.
  public static func reopen(_ number: Int32) throws(SystemError) -> FileDescriptor {
    try FileDescriptor.open(reading: "/proc/self/fd/\(number)")
  }
}

/// The reason why the content of a received descriptor could not be read. The description continues
/// a sentence that begins with "it is", and says what would be right.
public enum MemoryFileRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  case path
  /// `what` is the kind of the file: "a file outside of memory", "a pipe".
  case notInMemory(what: String)
  case notReadable
  case empty
  case tooLarge(bytes: Int, bytesMax: Int)
  /// Another process made the file shorter while the daemon read the file.
  case shortened
  case system(SystemError)

  public var description: String {
    switch self {
    case .path: "a path that was opened with O_PATH; \(Self.needed)"
    case .notInMemory(let what): "\(what); \(Self.needed)"
    case .notReadable: "open for writing only; it must be open for reading"
    case .empty: "an empty file"
    case .tooLarge(let bytes, let bytesMax):
      "a file of \(bytes) bytes; the maximum is \(bytesMax)"
    case .shortened: "a file that became shorter while the daemon read it"
    case .system(let error): "a file that could not be read: \(error)"
    }
  }

  private static let needed = "a memfd or another file of tmpfs is needed"
}

extension MemoryFile {
  /// Returns the content of a file in memory that another process has passed. Does not move the
  /// descriptor's offset.
  ///
  /// The call never blocks. fcntl F_GET_SEALS shows, without a call into a file system, that the
  /// file is in memory. For any other kind of file, even fstat(2) could block. For a file of FUSE
  /// or NFS, fstat(2) waits until the server of the file system answers.
  public static func content(
    ofReceived number: Int32, bytesMax: Int
  ) throws(MemoryFileRefusal) -> [UInt8] {
    let refusal: MemoryFileRefusal?
    var bytes: [UInt8] = []
    do throws(SystemError) {
      refusal = try read(number, into: &bytes, bytesMax: bytesMax)
    } catch {
      throw .system(error)
    }
    if let refusal { throw refusal }
    return bytes
  }

  private static func read(
    _ number: Int32, into bytes: inout [UInt8], bytesMax: Int
  ) throws(SystemError) -> MemoryFileRefusal? {
    let flags = try check("fcntl") { fcntl(number, F_GETFL) }
    // Most calls on a descriptor with O_PATH fail with EBADF. `check` treats EBADF as a programming
    // error, and would end the process.
    if flags & ReceivedDescriptor.oPath != 0 { return .path }
    guard try check("fcntl F_GET_SEALS", nilFor: EINVAL, body: { clinux_seals(number) }) != nil
    else { return .notInMemory(what: ReceivedDescriptor.kind(of: number)) }
    if flags & O_ACCMODE == O_WRONLY { return .notReadable }
    let size = try size(of: number)
    if size == 0 { return .empty }
    if size > bytesMax { return .tooLarge(bytes: size, bytesMax: bytesMax) }
    bytes = try beginning(of: number, count: size)
    return bytes.count == size ? nil : .shortened
  }

  /// Returns the size of a file in memory.
  public static func size(of number: Int32) throws(SystemError) -> Int {
    var status = stat()
    try check("fstat") { fstat(number, &status) }
    return Int(status.st_size)
  }

  /// Returns the first bytes of a file in memory: `count`, or all if the file has fewer. Does not
  /// move the descriptor's offset.
  public static func beginning(of number: Int32, count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = try check("pread") {
        bytes.withUnsafeMutableBytes {
          pread(number, $0.baseAddress! + done, count - done, off_t(done))
        }
      }
      if got == 0 { break }
      done += got
    }
    bytes.removeLast(count - done)
    return bytes
  }
}
