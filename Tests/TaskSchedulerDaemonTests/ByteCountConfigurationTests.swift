import Testing

@testable import TaskSchedulerDaemon

@Suite("Sizes in the settings")
struct ByteCountConfigurationTests {
  @Test(
    "Sizes are read with units to the base 1024, and are written in the largest unit",
    arguments: [
      ("65536", 65536, "64K"), ("64K", 65536, "64K"), ("1M", 1 << 20, "1M"), ("5B", 5, "5"),
      ("1000", 1000, "1000"), ("2G", 2 << 30, "2G"), ("0", 0, "0"),
    ])
  func bytes(_ text: String, _ bytes: Int, _ written: String) {
    #expect(ByteCount.parse(text) == bytes)
    #expect(ByteCount.format(bytes) == written)
  }

  @Test(
    "A malformed size is refused",
    arguments: ["", "K", "-1", "1.5M", "1 M", "1MiB", "9999999999G", "99999999999999999999"])
  func refusesBytes(_ text: String) {
    #expect(ByteCount.parse(text) == nil)
  }
}
