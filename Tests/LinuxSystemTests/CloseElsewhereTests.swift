import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("What others have opened")
struct CloseElsewhereTests {
  @Test("keeps nobody waiting when it is closed, though it lingers", arguments: [true, false])
  func lingering(isClaimed: Bool) throws {
    let (application, peer) = try StreamServer(.tcp, in: TemporaryDirectory()).pair()
    var option = linger(l_onoff: 1, l_linger: 3600)
    let size = socklen_t(MemoryLayout<linger>.size)
    #expect(setsockopt(application.number, SOL_SOCKET, SO_LINGER, &option, size) == 0)
    let bytes = [UInt8](repeating: 0, count: 65536)
    while Glibc.send(application.number, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}

    let pair = try UnixSocket.pair()
    let passed = [application.number]
    _ = try bytes.withUnsafeBytes { bytes in
      try passed.withUnsafeBufferPointer {
        try UnixSocket.send(
          pair.first.rawValue, UnsafeRawBufferPointer(rebasing: bytes[..<1]), descriptors: $0)
      }
    }
    var bag = DescriptorBag(closesElsewhere: true)
    var byte: UInt8 = 0
    try withUnsafeMutableBytes(of: &byte) {
      try UnixSocket.receive(pair.second.rawValue, exactly: $0, descriptors: &bag)
    }
    // Its sender's is not the last of its descriptors, and closed at once.
    application.close()
    let start = BootClock.now()
    if isClaimed { try unwrap(bag.take(0)).close() } else { bag.removeAll() }
    #expect(BootClock.now() - start < 60_000_000_000)
    // Where it had to wait, it ends now.
    peer.close()
  }
}
