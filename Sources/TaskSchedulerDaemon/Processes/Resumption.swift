import LinuxSystem

/// The resumption of an instance's processes, from the first signal to the last.
final class Resumption {
  /// The processes that the kernel did not allow the daemon to signal, in the order of the
  /// attempts.
  var refused: [StoppedProcess] = []
  var problem: String?
  /// Whether the event log named stopped processes of the instance when the resumption began.
  var isNoted = false
  var work: ProcessWorkQueue.Work?
  var ends: [() -> Void] = []
}
