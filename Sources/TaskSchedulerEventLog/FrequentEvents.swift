import TaskSchedulerCore

/// The events that an event log mostly consists of, in a form of their own: to write and read them
/// by the names of their fields takes several times as long. Each call of a client waits for the
/// one, and a new daemon reads thousands before it serves.
///
/// The form: a byte for which event it is, its numbers with 8 bytes each, little end first, and a
/// text's UTF-8 up to the end.
enum FrequentEvents {
  private enum Kind: UInt8 {
    case acknowledge = 1
    case beginNamedTask, beginTask, endTask, suspensionCompleted, stillSuspended
  }

  /// Returns false, and has appended nothing, where the event is none of these.
  static func append(_ event: Event, to bytes: inout [UInt8]) -> Bool {
    switch event {
    case .acknowledge(let request, let id, let callback):
      append(.acknowledge, [request.number, id.number, callback.number], to: &bytes)
    case .beginBackgroundTask(let request, let id, let name?):
      append(.beginNamedTask, [request.number, id.number], to: &bytes)
      bytes.append(contentsOf: name.utf8)
    case .beginBackgroundTask(let request, let id, nil):
      append(.beginTask, [request.number, id.number], to: &bytes)
    case .endBackgroundTask(let request, let id, let task):
      append(.endTask, [request.number, id.number, task.number], to: &bytes)
    case .suspensionCompleted(let id): append(.suspensionCompleted, [id.number], to: &bytes)
    case .stillSuspended(let ids): append(.stillSuspended, ids.map(\.number), to: &bytes)
    case _: return false
    }
    return true
  }

  private static func append(_ kind: Kind, _ numbers: [UInt64], to bytes: inout [UInt8]) {
    bytes.append(kind.rawValue)
    for number in numbers {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
  }

  /// The event that the bytes are, all of them.
  static func event(_ bytes: UnsafeRawBufferPointer) throws(MalformedRecord) -> Event {
    guard let first = bytes.first, let kind = Kind(rawValue: first) else {
      throw MalformedRecord(problem: "a frequent event is of no known kind")
    }
    let count =
      switch kind {
      case .acknowledge, .endTask: 3
      case .beginNamedTask, .beginTask: 2
      case .suspensionCompleted: 1
      case .stillSuspended: (bytes.count - 1) / 8
      }
    let end = 1 + 8 * count
    guard bytes.count == end || (kind == .beginNamedTask && bytes.count > end) else {
      throw MalformedRecord(problem: "a frequent event has \(bytes.count) bytes in place of \(end)")
    }
    func number(_ index: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1 + 8 * index, as: UInt64.self))
    }
    switch kind {
    case .acknowledge:
      return .acknowledge(RequestID(number(0)), InstanceID(number(1)), CallbackID(number(2)))
    case .beginNamedTask:
      guard let name = String(validating: bytes[end...], as: UTF8.self) else {
        throw MalformedRecord(problem: "a task's name is not UTF-8")
      }
      return .beginBackgroundTask(RequestID(number(0)), InstanceID(number(1)), name: name)
    case .beginTask:
      return .beginBackgroundTask(RequestID(number(0)), InstanceID(number(1)), name: nil)
    case .endTask:
      return .endBackgroundTask(RequestID(number(0)), InstanceID(number(1)), TaskID(number(2)))
    case .suspensionCompleted: return .suspensionCompleted(InstanceID(number(0)))
    case .stillSuspended: return .stillSuspended((0..<count).map { InstanceID(number($0)) })
    }
  }
}
