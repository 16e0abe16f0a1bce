import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("Pages of programs")
struct ProgramPagesTests {
  private static let bytesCount = 256 << 10

  @Test("Pages of a read-only file are unmapped, and have their contents at the next access")
  func unchanged() throws {
    let mapping = try map()
    defer { munmap(mapping, Self.bytesCount) }
    #expect(mprotect(mapping, Self.bytesCount, PROT_READ) == 0)
    for offset in stride(from: 0, to: Self.bytesCount, by: 4096) {
      #expect(mapping.load(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: "7"))
    }
    #expect(try found(mapping).bytesResident == Self.bytesCount)
    try ProgramPages.unmapUnchanged()
    #expect(try found(mapping).bytesResident == 0)
    #expect(mapping.load(fromByteOffset: Self.bytesCount - 1, as: UInt8.self) == UInt8(ascii: "7"))
  }

  @Test("Pages that were written before they became read-only keep what was written")
  func changed() throws {
    let mapping = try map()
    defer { munmap(mapping, Self.bytesCount) }
    mapping.storeBytes(of: 8, toByteOffset: 5000, as: UInt8.self)
    #expect(mprotect(mapping, Self.bytesCount, PROT_READ) == 0)
    try ProgramPages.unmapUnchanged()
    #expect(mapping.load(fromByteOffset: 5000, as: UInt8.self) == 8)
    #expect(try found(mapping).bytesChanged == 4096)
  }

  /// Returns a private mapping of a file that contains only the digit 7. The mapping is writable
  /// until the test calls `mprotect`.
  private func map() throws -> UnsafeMutableRawPointer {
    let directory = TemporaryDirectory()
    let path = directory.write("file", String(repeating: "7", count: Self.bytesCount))
    let number = open(path, O_RDONLY)
    defer { close(number) }
    let address = mmap(nil, Self.bytesCount, PROT_READ | PROT_WRITE, MAP_PRIVATE, number, 0)
    return try #require(address == MAP_FAILED ? nil : address)
  }

  private func found(_ address: UnsafeMutableRawPointer) throws -> ProgramPages.Mapping {
    let start = UInt(bitPattern: address)
    return try #require(try ProgramPages.mappings().first { $0.addresses.lowerBound == start })
  }
}
