import TaskSchedulerCore

// The ends of instances (contract.md#ends).
extension ObservedState {
  /// Records that the daemon kills an instance, and determines the reason.
  func kill(_ instance: ObservedInstance) {
    if instance.ending == nil, case .resources = event, let reason = instance.violatedRule {
      instance.ending = reason
    } else if instance.ending == nil {
      let isOverdue = instance.callbackDue(limits).map { $0 <= now } ?? false
      instance.ending = isOverdue ? instance.reasonOfLimit : .backgroundTimeExpired
      instance.lateAtKill = isOverdue ? instance.outstanding.first : nil
    } else if instance.terminateDue == nil, !instance.wasSuspendedAtEnd, !instance.isKilled {
      if instance.ending?.isByPerson != true { instance.ending = instance.reasonOfLimit }
      instance.lateAtKill = instance.outstanding.first
    }
    instance.isKilled = true
    if case .scheduler(.recovered) = event {} else { instance.killRetryDue = nil }
    instance.isStopping = false
  }
}
