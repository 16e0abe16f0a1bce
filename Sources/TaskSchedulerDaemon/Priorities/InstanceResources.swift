import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The resource use of one instance, and the restrictions on its processes (contract §12): the
/// priority and the throttle.
final class InstanceResources {
  let processes: InstanceProcesses
  /// The priority that the scheduler wants.
  var priority = ProcessPriority.foreground
  /// The priorities that the daemon lowered.
  ///
  /// While the daemon starts, all clients wait for it. It therefore converts the records of a
  /// previous daemon only when it first needs them.
  var lowered: LoweredPriorities {
    _read {
      takeHeldLowered()
      yield ownLowered
    }
    _modify {
      takeHeldLowered()
      yield &ownLowered
    }
  }
  private var ownLowered = LoweredPriorities()
  private var heldLowered: [DaemonState.Lowered]?
  /// The work that lowers or restores the priorities, in progress or complete; nil if there is
  /// none.
  var prioritizing: ProcessWorkQueue.Work?
  var isPartlyLowered = false
  /// Whether the daemon has lowered the CPU weight and the I/O weight of the control group.
  var hasWeights = (processor: false, io: false)
  var meter = ResourceMeter()
  /// The work that measures the resource use.
  var measurement: ProcessWorkQueue.Work?
  var throttle: Throttle?
  /// The work that stops the processes for the throttle.
  var pausing: ProcessWorkQueue.Work?

  /// - Parameter lowered: The priorities that a previous daemon lowered.
  init(_ processes: InstanceProcesses, lowered: [DaemonState.Lowered] = []) {
    self.processes = processes
    heldLowered = lowered.isEmpty ? nil : lowered
  }

  var id: InstanceID { processes.id }
  var uid: UInt32 { processes.uid }
  var leader: ProcessHandle { processes.leader }
  var origin: InstanceProcesses.Origin { processes.origin }

  /// Whether the daemon lowered any priority.
  var hasLowered: Bool { heldLowered != nil || !ownLowered.items.isEmpty }

  /// The lowered priorities, for the event log.
  var held: [DaemonState.Lowered] { heldLowered ?? ownLowered.items.map(\.held) }

  private func takeHeldLowered() {
    guard let held = heldLowered else { return }
    heldLowered = nil
    ownLowered = LoweredPriorities(held)
  }
}
