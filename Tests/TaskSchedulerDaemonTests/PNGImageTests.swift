import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§19: The picture of the application switcher is a PNG image")
struct PNGImageTests {
  private func problem(_ bytes: [UInt8]) -> PNGProblem? {
    do throws(PNGProblem) {
      _ = try PNGImage(bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test("The size of an image comes from its header, even without the rest of the image")
  func size() throws {
    let bytes = TestImage.png(width: 1920, height: 1080)
    let image = try PNGImage(bytes)
    #expect(image.width == 1920)
    #expect(image.height == 1080)
    #expect(try PNGImage(header: Array(bytes.prefix(PNGImage.headerBytesCount))) == image)
  }

  @Test("Each format of the PNG specification is accepted, and no other")
  func formats() {
    let depths: [UInt8: [UInt8]] = [
      0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]
    for colorType in UInt8(0)...7 {
      for depth in UInt8(0)...32 {
        let isKnown = depths[colorType]?.contains(depth) ?? false
        let found = problem(TestImage.png(format: [depth, colorType, 0, 0, 0]))
        #expect(found == (isKnown ? nil : .unknownFormat), "\(depth) bits, type \(colorType)")
      }
    }
    #expect(problem(TestImage.png(format: [8, 6, 0, 0, 1])) == nil, "Adam7")
    for format: [UInt8] in [[8, 6, 1, 0, 0], [8, 6, 0, 1, 0], [8, 6, 0, 0, 2]] {
      #expect(problem(TestImage.png(format: format)) == .unknownFormat)
    }
  }

  @Test("Dimensions of 0, a side above 16384, and more than 33554432 pixels are refused")
  func dimensions() {
    for (width, height) in [(0, 1), (1, 0), (16385, 1), (1, 16385), (8192, 4097), (1 << 31, 2)] {
      let bytes = TestImage.png(width: UInt32(width), height: UInt32(height))
      #expect(problem(bytes) == .wrongSize(width: width, height: height))
    }
    #expect(problem(TestImage.png(width: 16384, height: 2048)) == nil)
    #expect(problem(TestImage.png(width: 8192, height: 4096)) == nil)
  }

  @Test("Every truncation of an image is refused")
  func truncated() {
    let bytes = TestImage.png()
    for count in 0..<bytes.count {
      #expect(problem(Array(bytes.prefix(count))) == .truncated, "\(count) bytes")
    }
  }

  @Test("Other data, a damaged header, a missing chunk and bytes after the end are refused")
  func notAnImage() {
    #expect(problem(Array("GIF89a, and more than 33 bytes of it".utf8)) == .noSignature)
    #expect(problem(Array("x".utf8)) == .noSignature)
    var bytes = TestImage.png()
    bytes[20] ^= 1
    #expect(problem(bytes) == .wrongChecksum)
    bytes = TestImage.signature + TestImage.chunk("IDAT", [UInt8](repeating: 1, count: 13))
    #expect(problem(bytes) == .noHeader)
    #expect(problem(TestImage.png(pixelBytes: nil)) == .noPixels)
    #expect(problem(TestImage.png() + [0, 0]) == .bytesAfterEnd(2))
    bytes = TestImage.png()
    // The length of IDAT leads beyond the end of the file.
    bytes[33] = 0x7F
    #expect(problem(bytes) == .truncated)
  }
}
