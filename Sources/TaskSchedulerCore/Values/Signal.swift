/// A signal, identified by its number on x86 and Arm (signal(7)).
public struct Signal: Hashable, Sendable {
  public let number: Int32

  public init(_ number: Int32) { self.number = number }

  public static let terminate = Signal(15)
  public static let kill = Signal(9)

  /// The name, such as `SIGSEGV`, or `signal 40` if the signal has no name.
  public var name: String {
    Self.names.indices.contains(Int(number) - 1)
      ? "SIG\(Self.names[Int(number) - 1])" : "signal \(number)"
  }

  /// Creates the signal with a name such as `SIGINT`; nil if no signal has the name.
  public init?(name: String) {
    guard name.hasPrefix("SIG"), let index = Self.names.firstIndex(of: String(name.dropFirst(3)))
    else { return nil }
    number = Int32(index + 1)
  }

  /// Whether the signal reports a fault of the program. The kernel sends such a signal for an error
  /// of the program, or the program sends it to itself with abort(3).
  public var isFault: Bool {
    ["ILL", "TRAP", "ABRT", "BUS", "FPE", "SEGV", "XCPU", "XFSZ", "SYS"].contains {
      name == "SIG\($0)"
    }
  }

  /// The signals that a manifest may name to ask an application to end.
  public static let stopSignals: [Signal] = [
    "HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "PWR", "WINCH",
  ].compactMap { Signal(name: "SIG\($0)") }

  private static let names = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
  ]
}
