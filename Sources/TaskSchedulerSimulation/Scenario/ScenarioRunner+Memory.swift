import TaskSchedulerCore

/// The memory of the machine in a scenario, in bytes.
enum ScenarioMemory {
  static let total: UInt64 = 8 << 30
}

// The memory of a scenario and the scheduler's effects on it.
extension ScenarioRunner {
  private var reading: MemoryReading {
    MemoryReading(available: available, total: ScenarioMemory.total)
  }

  func press(_ percent: Int, _ source: MemoryPressure.Source) {
    available = ScenarioMemory.total / 100 * UInt64(percent)
    post(.memory(.pressed(MemoryPressure(source: source, memory: reading))))
  }

  private func dirty(of id: InstanceID) -> UInt64 {
    byInstance[id].map { scenario.applications[$0].dirty } ?? 0
  }

  func carryOut(_ effect: MemoryEffect) {
    switch effect {
    case .read: post(.memory(.read(reading)))
    case .measure(let ids):
      post(
        .memory(
          .measured(ids.map { MemorySize($0, dirty: dirty(of: $0), total: dirty(of: $0)) })))
    case .reclaim(let id):
      available = min(ScenarioMemory.total, available + dirty(of: id))
      schedule(after: .milliseconds(10), .reclaimed(id))
    case .pageOut: break
    }
  }

  func reportReclaimed(_ id: InstanceID) {
    post(.memory(.reclaimed(id, reading)))
  }
}
