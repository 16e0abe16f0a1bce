import TaskSchedulerCore
import TaskSchedulerEventLog

/// A damaged event log, read and replayed as after the daemon's death.
///
/// The input is a list of edits of a good event log, five bytes each: what is done (set, exchange
/// bits, add, copy eight bytes from another place, cut off), the place (two bytes) and an operand
/// (two bytes). The first byte's lowest bit says whether every record is given its right checksum
/// again, the next one whether an event log of any boot is read. Without right checksums nothing is
/// known afterwards that was not written. In any case nothing traps, and the policy's state does
/// not contradict itself.
enum EventLogTarget {
  private static let header = EventLogLayout.headerBytes

  static func run(_ input: UnsafeRawBufferPointer) throws {
    var steering = Steering(input)
    let choices = steering.byte() ?? 0
    let repairs = choices & 1 == 1
    var bytes = EventLogSample.shared.bytes
    while !steering.rest.isEmpty { edit(&bytes, steering.bytes(5)) }
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
      // Whom it names is looked for all the same.
      _ = try? LeftBehind(bytes, boot: boot)
      return try require(!error.description.isEmpty, "a refusal without a reason")
    }
    try require(
      (header...bytes.count).contains(replay.end), "the event log would go on at \(replay.end)")
    replay.scheduler.checkInvariants()
    let state = EventLogSample.state(replay.scheduler)
    if isUnrepaired {
      try require(EventLogSample.shared.states.contains(state), "something is known that never was")
    }
    let left = try LeftBehind(bytes, boot: boot)
    if replay.damage == nil { try checkLeftBehind(left, as: replay.holdings) }
    let again = try StoredReader.read(Scheduler.self, from: state)
    try require(EventLogSample.state(again) == state, "the state was read back as another")
  }

  /// Whoever the daemon held is let run by the one who looks only for that.
  private static func checkLeftBehind(_ left: LeftBehind, as holdings: Holdings) throws {
    for instance in holdings.instances.values {
      if let group = instance.arrival.group {
        try require(left.groups.contains(group), "the group \(group) would stay frozen")
      }
      for stopped in instance.stopped {
        try require(
          left.stopped.contains(stopped), "the process \(stopped.process.pid) would stay stopped")
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

  /// Most of the header holds nothing: places count without that.
  private static func squeeze(_ place: Int) -> Int {
    let used = 128
    return place < used ? place : place - used + header
  }

  /// Gives each record its checksum, as far as their lengths lead.
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
