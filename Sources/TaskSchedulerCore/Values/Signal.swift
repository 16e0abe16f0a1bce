/// A signal, by its number on x86 and Arm (signal(7)).
public struct Signal: Hashable, Sendable {
  public let number: Int32

  public init(_ number: Int32) { self.number = number }

  public static let terminate = Signal(15)
  public static let kill = Signal(9)

  /// `SIGSEGV`, or `signal 40` for one without a name.
  public var name: String {
    Self.names.indices.contains(Int(number) - 1)
      ? "SIG\(Self.names[Int(number) - 1])" : "signal \(number)"
  }

  /// The signal of a name such as `SIGINT`; nil where there is none of that name.
  public init?(name: String) {
    guard name.hasPrefix("SIG"), let index = Self.names.firstIndex(of: String(name.dropFirst(3)))
    else { return nil }
    number = Int32(index + 1)
  }

  /// Whether it tells of a mistake of the program that it ended: what the kernel sends for one, and
  /// what a program sends itself (abort(3)). All others come from outside.
  public var isFault: Bool {
    ["ILL", "TRAP", "ABRT", "BUS", "FPE", "SEGV", "XCPU", "XFSZ", "SYS"].contains {
      name == "SIG\($0)"
    }
  }

  /// The signals that may ask a program to end: each ends it unless it does something about it, and
  /// none tells of anything else.
  public static let stopSignals: [Signal] = [
    "HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "PWR", "WINCH",
  ].compactMap { Signal(name: "SIG\($0)") }

  private static let names = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
  ]
}
