import CLinux
import Glibc

/// Signals that the process takes one at a time in place of being interrupted (signalfd(2)).
public struct SignalQueue: ~Copyable, Sendable {
  /// One signal.
  public struct Arrival: Hashable, Sendable {
    public var number: Int32
    /// Whether the kernel sent it, for example for a terminal that hung up, and no process did.
    public var isFromKernel: Bool
  }

  /// Readable while a signal is pending.
  public let descriptor: FileDescriptor

  /// Blocks these signals in the calling thread and takes them from then on. A blocked signal is
  /// kept also where it would be ignored.
  ///
  /// Errors: EINVAL for a number that is no signal, EMFILE, ENFILE, ENOMEM.
  public init(_ signals: [Int32]) throws(SystemError) {
    descriptor = FileDescriptor(
      taking: try check("signalfd") { clinux_signal_fd(signals, signals.count) })
  }

  /// The next signal; nil where none is pending. Never blocks.
  public borrowing func next() throws(SystemError) -> Arrival? {
    let descriptor = descriptor.rawValue
    var number: Int32 = 0
    var code: Int32 = 0
    try check("read signalfd") { clinux_take_signal(descriptor, &number, &code) }
    return number == 0 ? nil : Arrival(number: number, isFromKernel: code == Int32(SI_KERNEL))
  }
}
