import LinuxSystem

/// The resumption of an instance's processes, from the first signal to the last.
final class Resumption {
  /// The processes that the kernel did not let the daemon signal, in the order of the attempts.
  var refused: [StoppedProcess] = []
  var problem: String?
  /// Whether the event log says that a process is stopped.
  var isNoted = false
  var work: ProcessWorkQueue.Work?
  var ends: [() -> Void] = []
}
