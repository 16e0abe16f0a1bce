import TaskSchedulerCore

// What instances use of the machine.
extension TraceHash {
  mutating func add(_ event: ResourceEvent) {
    switch event {
    case .used(let id, let use):
      add(tag: use.isTraced ? 100 : 101, id.number)
      add(use.processor)
      add(use.gpu)
    case .held(let id, let path):
      add(tag: 102, id.number)
      add(path)
    case .listens(let id, let listening):
      add(tag: 103, id.number)
      add(listening)
    }
  }

  mutating func add(_ effect: ResourceEffect) {
    switch effect {
    case .prioritize(let id, let priority):
      add(tag: 104, id.number)
      add(priority)
    case .look(let id): add(tag: 105, id.number)
    case .throttle(let id, let percent): add(tag: 106, id.number, UInt64(percent ?? 0))
    }
  }

  mutating func add(_ record: ResourceRecord) {
    switch record {
    case .usedProcessor(let used, let window):
      add(tag: 107)
      add(used)
      add(window)
    case .usedGPU(let used):
      add(tag: 108)
      add(used)
    case .heldResource(let path):
      add(tag: 109)
      add(path)
    case .throttled(let percent): add(tag: 110, UInt64(percent ?? 0))
    case .listens(let listening):
      add(tag: 111)
      add(listening)
    }
  }

  private mutating func add(_ listening: ListeningReport) {
    add(tag: listening.isComplete ? 112 : 113, UInt64(listening.count))
    for address in listening.addresses { add(address) }
  }
}
