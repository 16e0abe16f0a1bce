import TaskSchedulerCore
import TaskSchedulerEventLog

/// A damaged event log, which a daemon reads and replays at its start.
///
/// The first byte of the input is a set of flags, and the next bytes are edits of an intact event
/// log. If bit 0 is set, the target corrects all checksums after the edits. If bit 1 is set, it
/// accepts an event log of any boot. An edit has five bytes: the operation (set, flip bits, add,
/// copy eight bytes from another position, truncate), the position (two bytes) and an operand (two
/// bytes).
///
/// If the checksums are not corrected, the result must be a state that the scheduler had. In any
/// case, no code may trap, and the state of the scheduler must satisfy its invariants.
enum EventLogTarget {
  private static let header = EventLogLayout.headerBytes

  static func run(_ input: UnsafeRawBufferPointer) throws {
    var controlBytes = ControlBytes(input)
    let choices = controlBytes.byte() ?? 0
    let repairs = choices & 1 == 1
    var bytes = EventLogSample.shared.bytes
    while !controlBytes.rest.isEmpty { edit(&bytes, controlBytes.bytes(5)) }
    if repairs { repair(&bytes) }
    let boot = choices & 2 == 0 ? EventLogSample.boot : nil
    try bytes.withUnsafeBytes { try read($0, boot, isUnrepaired: !repairs) }
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, _ boot: BootID?, isUnrepaired: Bool
  ) throws {
    let replay: Replay
    do throws(EventLogRefusal) {
      replay = try Replay(bytes, boot: boot, now: Instant(nanoseconds: .max))
    } catch {
      // The daemon searches even a refused log for processes that may be suspended.
      _ = try? Leftovers(bytes, boot: boot)
      return try require(!error.description.isEmpty, "the refusal has no reason")
    }
    try require(
      (header...bytes.count).contains(replay.end), "the next record would be at byte \(replay.end)")
    replay.scheduler.checkInvariants()
    let state = EventLogSample.state(replay.scheduler)
    if isUnrepaired {
      try require(
        EventLogSample.shared.states.contains(state), "the scheduler never had this state")
    }
    let left = try Leftovers(bytes, boot: boot)
    if replay.damage == nil { try checkLeftovers(left, as: replay.daemonState) }
    let again = try StoredReader.read(Scheduler.self, from: state)
    try require(
      EventLogSample.state(again) == state, "the state changed when it was written and read")
  }

  /// Checks that `Leftovers` finds the control group and the stopped processes of every instance
  /// that the daemon managed.
  private static func checkLeftovers(_ left: Leftovers, as daemonState: DaemonState) throws {
    for instance in daemonState.instances.values {
      if let group = instance.details.group {
        try require(left.groups.contains(group), "Leftovers lacks the control group \(group)")
      }
      for stopped in instance.stopped {
        try require(
          left.stopped.contains(stopped),
          "Leftovers lacks the stopped process \(stopped.process.pid)")
      }
    }
  }

  // MARK: Edits

  private static func edit(_ bytes: inout [UInt8], _ edit: [UInt8]) {
    guard edit.count == 5, !bytes.isEmpty else { return }
    let place = squeeze(Int(edit[1]) | Int(edit[2]) << 8) % bytes.count
    let operand = edit[3]
    switch edit[0] % 5 {
    case 0: bytes[place] = operand
    case 1: bytes[place] ^= operand
    case 2: bytes[place] &+= operand
    case 3:
      let source = squeeze(Int(operand) | Int(edit[4]) << 8) % bytes.count
      for offset in 0..<8 where max(place, source) + offset < bytes.count {
        bytes[place + offset] = bytes[source + offset]
      }
    case _: bytes.removeLast(bytes.count - place)
    }
  }

  /// Converts a position in the input to a position in the event log. Skips the empty part of the
  /// header, which is most of it.
  private static func squeeze(_ place: Int) -> Int {
    let used = 128
    return place < used ? place : place - used + header
  }

  /// Corrects the checksums of the records, up to the first record with an impossible length.
  private static func repair(_ bytes: inout [UInt8]) {
    var place = header
    while place + 8 < bytes.count {
      let count = (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
      let start = place + 8
      guard count > 0, count <= bytes.count - start else { return }
      let sum = bytes[start..<start + count].withUnsafeBytes { Checksum.crc32($0) }
      for index in 0..<4 {
        bytes[place + 4 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index))
      }
      place = start + count
    }
  }
}
