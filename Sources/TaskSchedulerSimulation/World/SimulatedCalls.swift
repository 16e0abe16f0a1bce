import TaskSchedulerCore

// Phone calls of a modem and of applications.
extension Simulation {
  /// After some of the numbered actions, begins, answers or ends a phone call.
  func actOnCalls(_ number: Int) {
    var chance = SeededGenerator(seed: options.seed, .calls, UInt64(number))
    guard configuration.hasSessionAgents, chance.happens(60) else { return }
    switch chance.below(10) {
    case 0..<5: changeModemCalls(&chance)
    case 5..<7: callApplication(&chance) { .beginCall($0, $1) }
    case _: callApplication(&chance) { .endCall($0, $1) }
    }
  }

  private func changeModemCalls(_ chance: inout SeededGenerator) {
    let key = chance.pick(configuration.keys)
    if modemCalls.isEmpty || chance.happens(200) {
      modemCalls.append(ModemCall("/call/\(chance.below(1000))", isAnswered: chance.happens(300)))
      if isUp, chance.happens(700) { post(.session(.incomingCall(key))) }
    } else if let ringing = modemCalls.firstIndex(where: { !$0.isAnswered }), chance.happens(400) {
      modemCalls[ringing].isAnswered = true
      if isUp, chance.happens(500) { post(.session(.callAnswered(key))) }
    } else {
      modemCalls.remove(at: chance.below(modemCalls.count))
    }
    reportModemCalls()
  }

  private func reportModemCalls() { if isUp { post(.session(.modemCalls(modemCalls))) } }

  /// Lets one of the newest running leaders say that its call begins or ends.
  private func callApplication(
    _ chance: inout SeededGenerator, _ event: (RequestID, InstanceID) -> ApplicationEvent
  ) {
    let running = processes.indices.suffix(12).filter {
      processes[$0].isAlive && processes[$0].instance != nil && !processes[$0].isStopped
    }
    guard !running.isEmpty else { return }
    let index = chance.pick(running)
    guard let id = processes[index].instance else { return }
    send(.application(event(request(index), id)))
  }

  /// Ends all calls.
  func endCalls() {
    modemCalls = []
    reportModemCalls()
    for (index, process) in processes.enumerated() where process.isAlive {
      if let id = process.instance { post(.application(.endCall(request(index), id))) }
    }
  }
}
