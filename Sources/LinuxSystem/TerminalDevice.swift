/// A terminal, by the number of its device.
public struct TerminalDevice: Hashable, Sendable {
  public let major: UInt32
  public let minor: UInt32

  /// - Parameter number: tty_nr of proc_pid_stat(5). Bits 8 to 19 are the major number, the others
  ///   the minor number. 0 means no terminal.
  public init?(number: UInt32) {
    guard number != 0 else { return nil }
    major = number >> 8 & 0xFFF
    minor = number & 0xFF | number >> 12 & 0xFFF00
  }

  /// The device's name below /dev, if the kernel's documentation (devices.txt) defines it: `pts/3`,
  /// `tty1`, `ttyS0`; otherwise both numbers.
  public var name: String {
    switch major {
    case 136: "pts/\(minor)"
    case 4: minor < 64 ? "tty\(minor)" : "ttyS\(minor - 64)"
    default: "tty-\(major)-\(minor)"
    }
  }
}
