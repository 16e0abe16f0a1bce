import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Tests of contract §19: an application passes a picture as a file in memory.
@Suite("§19: A file in memory that an application passes")
struct MemoryFileTests {
  private let directory = TemporaryDirectory()

  private func refusal(_ number: Int32, bytesMax: Int = 100) -> MemoryFileRefusal? {
    do throws(MemoryFileRefusal) {
      _ = try MemoryFile.content(ofReceived: number, bytesMax: bytesMax)
      return nil
    } catch {
      return error
    }
  }

  @Test("The content of a memfd is read whole, wherever its offset is")
  func content() throws {
    let file = try MemoryFile.make(named: "test", holding: [1, 2, 3])
    #expect(lseek(file.rawValue, 2, SEEK_SET) == 2)
    #expect(try MemoryFile.content(ofReceived: file.rawValue, bytesMax: 3) == [1, 2, 3])
    #expect(lseek(file.rawValue, 0, SEEK_CUR) == 2, "the offset of the application is unchanged")
  }

  @Test("A file of tmpfs is read like a memfd")
  func tmpfs() throws {
    let path = "/dev/shm/taskschedd-test-\(getpid())"
    let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    let file = FileDescriptor(taking: try succeeded(number))
    unlink(path)
    #expect(write(file.rawValue, "text", 4) == 4)
    #expect(try MemoryFile.content(ofReceived: file.rawValue, bytesMax: 4) == Array("text".utf8))
  }

  @Test("Any other descriptor is refused without a call that could block, and the error names it")
  func others() throws {
    let folder = try FileDescriptor.open(reading: directory.path)
    #expect(refusal(folder.rawValue) == .notInMemory(what: "a file"))
    let zero = try FileDescriptor.open(reading: "/dev/zero")
    #expect(refusal(zero.rawValue) == .notInMemory(what: "a file"))
    let process = try FileDescriptor.open(reading: "/proc/self/stat")
    #expect(refusal(process.rawValue) == .notInMemory(what: "a file"))
    let (reading, writing) = try FileDescriptor.pipe().ends()
    #expect(refusal(reading) == .notInMemory(what: "a pipe"))
    close(reading)
    close(writing)
    let (one, other) = try UnixSocket.pair().ends()
    #expect(refusal(one) == .notInMemory(what: "a socket"))
    close(one)
    close(other)
    let event = try FileDescriptor.event()
    #expect(
      refusal(event.rawValue)?.description.hasSuffix("a memfd or another file of tmpfs is needed")
        == true)
    // The number is O_PATH, which Glibc declares for GNU sources only.
    let path = FileDescriptor(taking: try succeeded(open("/dev/shm", 0o10000000 | O_CLOEXEC)))
    #expect(refusal(path.rawValue) == .path)
  }

  @Test("A file that is empty or too large is refused, and so is a write-only descriptor")
  func sizes() throws {
    let empty = try MemoryFile.make(named: "test", holding: [])
    #expect(refusal(empty.rawValue) == .empty)
    let large = try MemoryFile.make(named: "test", holding: [UInt8](repeating: 7, count: 101))
    #expect(refusal(large.rawValue) == .tooLarge(bytes: 101, bytesMax: 100))
    #expect(ftruncate(large.rawValue, 1 << 40) == 0)
    #expect(refusal(large.rawValue) == .tooLarge(bytes: 1 << 40, bytesMax: 100))
    let small = try MemoryFile.make(named: "test", holding: [7])
    let writing = try FileDescriptor.open(writing: "/proc/self/fd/\(small.rawValue)")
    #expect(refusal(writing.rawValue) == .notReadable)
  }

  @Test("A sealed file cannot change, not even through another descriptor")
  func sealed() throws {
    let file = try MemoryFile.makeSealed(named: "test", holding: [1, 2, 3])
    #expect(pwrite(file.rawValue, "x", 1, 0) == -1)
    #expect(errno == EPERM)
    #expect(ftruncate(file.rawValue, 1) == -1)
    #expect(ftruncate(file.rawValue, 10) == -1)
    let reader = try MemoryFile.reopen(file.rawValue)
    #expect(try MemoryFile.size(of: reader.rawValue) == 3)
    #expect(try MemoryFile.beginning(of: reader.rawValue, count: 2) == [1, 2])
    #expect(try MemoryFile.beginning(of: reader.rawValue, count: 9) == [1, 2, 3])
    #expect(write(reader.rawValue, "x", 1) == -1)
    #expect(errno == EBADF, "the descriptor is open for reading only")
    #expect(lseek(reader.rawValue, 2, SEEK_SET) == 2)
    #expect(lseek(file.rawValue, 0, SEEK_CUR) == 0, "each descriptor has an offset of its own")
  }
}
