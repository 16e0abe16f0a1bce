import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("Descriptors that other processes opened")
struct CloseElsewhereTests {
  enum Way: CaseIterable {
    case claimed, unclaimed, tooMany, unread
  }

  @Test("The close of a socket with SO_LINGER does not block the caller", arguments: Way.allCases)
  func lingering(_ way: Way) throws {
    let (application, peer) = try StreamServer(.tcp, in: TemporaryDirectory()).pair()
    var option = linger(l_onoff: 1, l_linger: 3600)
    let size = socklen_t(MemoryLayout<linger>.size)
    #expect(setsockopt(application.number, SOL_SOCKET, SO_LINGER, &option, size) == 0)
    let bytes = [UInt8](repeating: 0, count: 65536)
    while Glibc.send(application.number, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}

    let (sending, receiving) = try UnixSocket.pair().ends()
    let sender = FileDescriptor(taking: sending)
    let receiver = FileDescriptor(taking: receiving)
    let passed = [application.number]
    _ = try bytes.withUnsafeBytes { bytes in
      try passed.withUnsafeBufferPointer {
        try UnixSocket.send(
          sender.rawValue, UnsafeRawBufferPointer(rebasing: bytes[..<1]), descriptors: $0)
      }
    }
    // The message still holds a descriptor of the socket, so this close does not wait.
    application.close()
    let start = BootClock.now()
    var bag = DescriptorBag(messageMax: way == .tooMany ? 0 : 8, closesElsewhere: true)
    var byte: UInt8 = 0
    let isLost = try withUnsafeMutableBytes(of: &byte) { byte in
      do throws(ReceiveError) {
        if way == .unread { return false }
        try UnixSocket.receive(receiver.rawValue, exactly: byte, descriptors: &bag)
        return false
      } catch .descriptorsLost {
        return true
      }
    }
    #expect(isLost == (way == .tooMany))
    if way == .claimed { try unwrap(bag.take(0)).close() }
    bag.removeAll()
    UnixSocket.abandon(receiver.rawValue)
    receiver.close()
    #expect(BootClock.now() - start < 60_000_000_000)
    // If another thread still waits in close(2), the call now completes.
    peer.close()
  }
}
