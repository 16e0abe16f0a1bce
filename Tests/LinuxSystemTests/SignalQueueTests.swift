import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("Signals that are read one at a time")
struct SignalQueueTests {
  @Test("A queued signal does not interrupt calls, and is read with its number and sender")
  func taken() throws {
    // The signal is blocked in this thread only and sent to this thread only, so it does not affect
    // other tests.
    let signals = try SignalQueue([SIGUSR2])
    #expect(try signals.next() == nil)
    #expect(pthread_kill(pthread_self(), SIGUSR2) == 0)
    try waitFor(POLLIN, on: signals.descriptor.rawValue)
    let arrival = try signals.next()
    #expect(arrival?.number == SIGUSR2)
    #expect(arrival?.isFromKernel == false)
    #expect(try signals.next() == nil)
  }

  @Test("A number that is not a signal is refused with EINVAL")
  func invalid() {
    #expect(throws: SystemError(call: "signalfd", errno: EINVAL)) { _ = try SignalQueue([1000]) }
  }
}
