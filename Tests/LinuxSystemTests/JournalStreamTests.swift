import Glibc
import LinuxSystem
import Testing

@Suite("The journal's stream (systemd.exec(5))")
struct JournalStreamTests {
  /// Returns the value that JOURNAL_STREAM has if this descriptor is the stream to the journal.
  private func value(for number: Int32) throws -> String {
    var status = stat()
    try #require(fstat(number, &status) == 0)
    return "\(status.st_dev):\(status.st_ino)"
  }

  @Test("A descriptor is the stream if JOURNAL_STREAM has its device and its inode number")
  func named() throws {
    let pipe = try FileDescriptor.pipe()
    let number = pipe.writing.rawValue
    #expect(try JournalStream.isJournal(number, named: value(for: number)))
  }

  @Test("A descriptor is not the stream if JOURNAL_STREAM was inherited and names another stream")
  func foreign() throws {
    let pipe = try FileDescriptor.pipe(), other = try FileDescriptor.pipe()
    let foreign = try value(for: other.writing.rawValue)
    #expect(!JournalStream.isJournal(pipe.writing.rawValue, named: foreign))
  }

  @Test(
    "A descriptor is not the stream if JOURNAL_STREAM is not set or is malformed",
    arguments: [nil, "", ":", "8", "8:", "8:x", "stderr"])
  func malformed(_ value: String?) throws {
    let pipe = try FileDescriptor.pipe()
    #expect(!JournalStream.isJournal(pipe.writing.rawValue, named: value))
  }

  @Test("A closed descriptor is not the stream")
  func closed() {
    #expect(!JournalStream.isJournal(-1, named: "8:1"))
  }
}
