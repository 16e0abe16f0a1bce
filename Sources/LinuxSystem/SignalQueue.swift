import CLinux
import Glibc

/// A queue of signals, which the process reads one at a time instead of being interrupted
/// (signalfd(2)).
public struct SignalQueue: ~Copyable, Sendable {
  /// One signal.
  public struct ReceivedSignal: Hashable, Sendable {
    public var number: Int32
    /// Whether the kernel sent the signal with the code SI_KERNEL, for example after a hang-up of
    /// the terminal. False if a process sent the signal, and for the SIGCHLD of a child.
    public var isFromKernel: Bool
  }

  /// The descriptor, which is readable while a signal is pending.
  public let descriptor: FileDescriptor

  /// Blocks these signals in the calling thread, and queues them from then on, even signals that
  /// this process ignores.
  ///
  /// - Throws: EINVAL for a number that is not a signal; EMFILE, ENFILE, ENOMEM.
  public init(_ signals: [Int32]) throws(SystemError) {
    descriptor = FileDescriptor(
      taking: try check("signalfd") { clinux_signal_fd(signals, signals.count) })
  }

  /// Returns the next signal; nil if none is pending. Never blocks.
  public borrowing func next() throws(SystemError) -> ReceivedSignal? {
    let descriptor = descriptor.rawValue
    var number: Int32 = 0
    var code: Int32 = 0
    try check("read signalfd") { clinux_take_signal(descriptor, &number, &code) }
    return number == 0
      ? nil : ReceivedSignal(number: number, isFromKernel: code == Int32(SI_KERNEL))
  }
}
