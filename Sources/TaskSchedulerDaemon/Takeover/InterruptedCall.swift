import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The call that the previous daemon was carrying out when it died.
struct InterruptedCall {
  let connection: UInt64
  private let progress: EventLogProgress
  private let effects: ArraySlice<Effect>
  /// Whether the event log contains the event of the call.
  private let isWritten: Bool
  /// If the event log contains only a part of the call's message, the number of bytes of this part;
  /// otherwise 0.
  private let inputCount: Int
  private let isInputUsedUp: Bool
  /// Whether the previous daemon died while it sent a reply. The new daemon does not send that
  /// reply again.
  private let isFirstEffectUnknown: Bool

  init(_ replay: Replay) {
    progress = replay.progress
    effects = replay.effectsLeft
    connection = progress.callPhase == .none ? 0 : progress.callConnection
    isWritten = replay.isCallWritten
    isInputUsedUp = replay.isInputUsedUp
    inputCount = replay.daemonState.connections[connection]?.input.bytes.count ?? 0
    if case .reply = replay.effectsLeft.first {
      isFirstEffectUnknown = progress.sending != 0
    } else {
      isFirstEffectUnknown = false
    }
  }

  /// Returns true if the new daemon cannot know how much of the call the previous daemon completed.
  /// If the event log contains the call's event, but the call's message is still in the socket,
  /// removes the message from the socket.
  ///
  /// The function records the progress of the call in the event log at once, because this daemon
  /// may die before it serves another call. Without this record, the next daemon would take the
  /// client's next message for the message of this call, and the next event for this call's event.
  func leavesUnknown(
    _ cookie: UInt64, _ number: Int32, _ eventLog: EventLog
  ) throws(SystemError) -> Bool {
    if isFirstEffectUnknown, cookie == progress.sending { return true }
    guard cookie == connection else { return false }
    let isKnown: Bool
    switch progress.callPhase {
    case .none: return false
    case .peeked:
      guard isWritten else {
        eventLog.setCallPhase(.none)
        return false
      }
      isKnown = receive(progress.callBytes, from: number)
    case .taking:
      let left = try UnixSocket.readableCount(number)
      isKnown = isWritten && progress.callBytes > 0 && left < progress.callBytes
    case .taken: isKnown = isWritten
    case .takingPart:
      guard try finishPart(number) else { return true }
      eventLog.setCallPhase(.none)
      return false
    }
    if isKnown { eventLog.setCallPhase(.taken) }
    if isKnown, isInputUsedUp { eventLog.note(.inputComplete(connection: cookie)) }
    return !isKnown
  }

  /// Completes the receipt of a message part. If the event log contains the part, removes those of
  /// its bytes that are still in the socket. Otherwise, leaves all bytes of the part in the socket:
  /// the previous daemon had not begun to remove them.
  ///
  /// - Returns: False if the rest could not be received.
  private func finishPart(_ number: Int32) throws(SystemError) -> Bool {
    if inputCount >= progress.callBytes, let left = try UnixSocket.peekMark(number), left > 0,
      !receive(left, from: number) {
      return false
    }
    try UnixSocket.setPeekMark(number, nil)
    return true
  }

  /// Returns the remaining effects of the last event, without a reply that the previous daemon was
  /// sending.
  ///
  /// Records that no reply is being sent, so that a later daemon does not skip a reply that this
  /// daemon has not begun to send.
  func effectsLeft(_ eventLog: EventLog) -> [Effect] {
    eventLog.forgetSending()
    guard isFirstEffectUnknown else { return Array(effects) }
    eventLog.effectDone()
    return Array(effects.dropFirst())
  }

  private func receive(_ bytesCount: Int, from number: Int32) -> Bool {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesCount, alignment: 1)
    defer { bytes.deallocate() }
    var descriptors = DescriptorBag(closesElsewhere: true)
    do throws(ReceiveError) {
      try UnixSocket.receive(number, exactly: bytes, descriptors: &descriptors)
      return true
    } catch {
      return false
    }
  }
}
