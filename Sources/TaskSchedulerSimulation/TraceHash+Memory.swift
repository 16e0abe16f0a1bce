import TaskSchedulerCore

// What is done about memory.
extension TraceHash {
  mutating func add(_ event: MemoryEvent) {
    switch event {
    case .pressed(let pressure):
      add(tag: 100)
      add(pressure.source)
      add(pressure.memory)
    case .looked(let reading):
      add(tag: 101)
      add(reading)
    case .measured(let sizes):
      add(tag: 102)
      for size in sizes { add(size) }
    case .reclaimed(let id, let reading):
      add(tag: 103, id.number)
      add(reading)
    case .warn(let request, let key, let owner):
      add(tag: 104, request.number, owner.map { UInt64($0.uid) } ?? .max)
      if let key { add(key) }
    }
  }

  mutating func add(_ effect: MemoryEffect) {
    switch effect {
    case .look: add(tag: 110)
    case .measure(let ids):
      add(tag: 111)
      for id in ids { add(id.number) }
    case .reclaim(let id): add(tag: 112, id.number)
    case .pageOut(let id): add(tag: 113, id.number)
    }
  }

  mutating func add(_ choice: MemoryChoice) {
    add(tag: 22)
    add(choice.classCount)
    add(choice.memory)
    add(choice.pressedSince.nanoseconds)
    add(choice.choosingTime)
    for candidate in [choice.chosen] + choice.runnersUp {
      add(candidate.application)
      add(candidate.state)
      add(candidate.size)
      add(candidate.activation)
    }
  }

  private mutating func add(_ size: MemorySize) {
    add(tag: size.isEstimate ? 1 : 2, size.instance.number, size.dirty, size.total)
  }

  private mutating func add(_ reading: MemoryReading) {
    add(reading.available)
    add(reading.total)
  }
}
