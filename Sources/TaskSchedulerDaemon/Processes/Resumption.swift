import LinuxSystem

/// The resuming of an instance's processes, from the first signal to the last.
final class Resumption {
  /// Those that the kernel did not let the daemon signal, in the order of the attempts.
  var refused: [StoppedProcess] = []
  var problem: String?
  /// Whether the event log says that any is stopped.
  var isNoted = false
  var work: ProcessSteps.Work?
  var ends: [() -> Void] = []
}
