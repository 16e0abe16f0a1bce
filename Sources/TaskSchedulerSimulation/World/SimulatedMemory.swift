import TaskSchedulerCore

/// The memory of the simulated machine, in MiB.
struct SimulatedMemory {
  static let total: UInt64 = 1000
  var available: UInt64 = SimulatedMemory.total

  var reading: MemoryReading {
    MemoryReading(available: available << 20, total: Self.total << 20)
  }
}

// Shortages of memory, drawn from the seed. They have a stream of random numbers of their own, so
// that they do not change the other actions of the seed.
extension Simulation {
  /// After some of the numbered actions, makes memory short or simulates a warning.
  func runShort(_ action: Int) {
    var chance = SeededGenerator(seed: options.seed, .memory, UInt64(action) + 1)
    guard chance.happens(60) else { return }
    if chance.happens(200) { return warn(&chance) }
    machine.available = chance.below(chance.pick([40, 150, 600] as [UInt64]))
    if isUp { press(again: chance.below(12)) }
  }

  private func warn(_ chance: inout SeededGenerator) {
    let key = chance.happens(600) ? chance.pick(configuration.keys) : nil
    let owner = chance.happens(300) ? chance.pick(configuration.keys).owner : nil
    send(.memory(.warn(request(nil), key, owner: key == nil ? owner : nil)))
  }

  /// Reports memory pressure, and plans `again` further reports.
  func press(again: Int) {
    var chance = draw(.memory)
    let source: MemoryPressure.Source = chance.happens(300) ? .slice : .machine
    post(.memory(.pressed(MemoryPressure(source: source, memory: machine.reading))))
    guard again > 0, !isSettling else { return }
    let pause = Nanoseconds.second / 2 + chance.below(2 * Nanoseconds.second)
    schedule(after: pause, .presses(again: again - 1))
  }

  /// Returns the private memory of an instance. Sometimes two instances have equal sizes.
  private func dirty(of id: InstanceID) -> UInt64 {
    guard let (index, _) = process(of: id) else { return 0 }
    var chance = SeededGenerator(seed: options.seed, .memory, 1 << 32 + UInt64(index))
    return chance.happens(300) ? 50 : 1 + chance.below(200)
  }

  func carryOut(_ effect: MemoryEffect) {
    var chance = draw(.memory)
    let answer: MemoryEvent
    switch effect {
    case .read:
      return post(.memory(.read(machine.reading)))
    case .measure(let ids):
      answer = .measured(
        ids.map {
          MemorySize($0, dirty: dirty(of: $0) << 20, total: 1 << 30, isEstimate: chance.happens(50))
        })
    case .reclaim(let id):
      // The kernel may keep the memory for a long time.
      if !isSettling, chance.happens(50) { return }
      machine.available = min(SimulatedMemory.total, machine.available + dirty(of: id))
      answer = .reclaimed(id, machine.reading)
    case .pageOut:
      return
    }
    schedule(
      after: chance.below(100 * Nanoseconds.millisecond),
      .memoryAnswers(answer, generation: recoveryCount))
  }
}
