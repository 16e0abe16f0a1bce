import TaskSchedulerCore

/// The windows and the audio server of a user's session, and the connection of the session agent.
struct SimulatedSession {
  var isAttached = false
  /// The windows, by the index of their process.
  var windows: [Int: WindowVisibility] = [:]
  /// Whether a window of an application or of another program has the focus.
  var hasFocus = false
  /// The arrival of the agent's latest message. The next message arrives no earlier, because
  /// messages arrive in order.
  var arrivalLast: UInt64 = 0
  /// The number of the agent's messages that have not arrived.
  var inTransit = 0
  /// The number of the attachment. An order with an earlier number has no effect, because its agent
  /// has died.
  var attachment = 0
  /// The number of the last attachment of which the daemon knows.
  var attachmentKnown = 0
  /// The arrival of the daemon's latest order.
  var orderLast: UInt64 = 0
  var audio = SimulatedAudio()
  /// The indices of the processes that are media players on the session bus.
  var players: Set<Int> = []
  /// Whether the agent shows the media player `taskschedd`.
  var presentsPlayer = false

  /// Takes the focus away from the window that has the focus, and gives that window another
  /// visibility.
  mutating func unfocus(leaving visibility: WindowVisibility) {
    for index in windows.keys.sorted() where windows[index] == .focused {
      windows[index] = visibility
    }
  }
}

// The actions in a session: users work with windows, and screens are locked. Session agents report
// windows late, report wrong windows, and die.
extension Simulation {
  /// The visibilities that an agent can report.
  private static let reportable: [WindowVisibility] = [.focused, .visible, .hidden]

  /// After some of the numbered actions, performs one action in a session. Half of the seeds have
  /// no session agent.
  func actInSession(_ number: Int) {
    var chance = SeededGenerator(seed: options.seed, .session, UInt64(number) + 2)
    guard configuration.hasSessionAgents, chance.happens(600) else { return }
    let user = chance.pick(configuration.keys).owner
    switch chance.below(100) {
    case 0..<68: useWindows(user, &chance)
    case 68..<75: loseAgent(user, &chance)
    case 75..<80: for _ in 0..<(1 + chance.below(30)) { report(user, &chance) }
    case 80..<85: lie(user, &chance)
    case _: toggleLock(of: chance.pick(configuration.seats))
    }
    if sessions[user]?.isAttached != true, chance.happens(300) { attach(user) }
  }

  private func useWindows(_ user: UserID, _ chance: inout SeededGenerator) {
    var session = sessions[user] ?? SimulatedSession()
    let owned = processes.indices.suffix(40).filter {
      processes[$0].isAlive && processes[$0].instance != nil && processes[$0].key.owner == user
    }
    let left: WindowVisibility = chance.happens(500) ? .visible : .hidden
    let isFocusElsewhere = chance.happens(500)
    if owned.isEmpty || chance.happens(150) {
      session.unfocus(leaving: left)
      session.hasFocus = isFocusElsewhere
    } else {
      let index = chance.pick(owned)
      let wasFocused = session.windows[index] == .focused
      switch chance.below(10) {
      case 0..<5:
        session.unfocus(leaving: left)
        session.windows[index] = .focused
        session.hasFocus = true
      case 5, 6: session.windows[index] = .visible
      case 7, 8: session.windows[index] = .hidden
      case _: session.windows[index] = nil
      }
      if wasFocused, session.windows[index] != .focused { session.hasFocus = isFocusElsewhere }
    }
    sessions[user] = session
    report(user, &chance)
  }

  /// Reports the windows of a session, at once or later.
  private func report(_ user: UserID, _ chance: inout SeededGenerator) {
    guard let session = sessions[user], session.isAttached else { return }
    let lag = chance.happens(faults[.messagesAreSlow]) ? chance.below(Nanoseconds.second) : 0
    send(.windows(user, snapshot(of: session)), of: user, after: lag)
  }

  private func snapshot(of session: SimulatedSession) -> WindowSnapshot {
    let reports = session.windows.keys.sorted().compactMap { index -> WindowReport? in
      guard processes[index].isAlive, let id = processes[index].instance else { return nil }
      return session.windows[index].map { WindowReport(id, $0) }
    }
    return WindowSnapshot(reports, hasFocus: session.hasFocus)
  }

  /// Sends a message of an agent after all earlier messages of that agent.
  func send(_ event: SessionEvent, of user: UserID, after lag: UInt64 = 0) {
    let session = sessions[user] ?? SimulatedSession()
    let arrival = max(session.arrivalLast, now + lag)
    sessions[user, default: session].arrivalLast = arrival
    // If the machine slept, earlier messages may still be in transit, although they were planned
    // for an instant before now. This message must not overtake them.
    guard arrival > now || session.inTransit > 0 else { return post(.session(event)) }
    sessions[user]?.inTransit += 1
    schedule(after: arrival - now, .agentMessageArrives(event, of: user))
  }

  func attach(_ user: UserID) {
    guard sessions[user]?.isAttached != true else { return }
    sessions[user, default: SimulatedSession()].isAttached = true
    sessions[user]?.attachment += 1
    sessions[user]?.audio.measured = []
    sessions[user]?.audio.muted = []
    sessions[user]?.audio.lowered = [:]
    sessions[user]?.audio.confirmed = 0
    sessions[user]?.presentsPlayer = false
    send(.agentAttached(user), of: user)
    send(.windows(user, snapshot(of: sessions[user] ?? SimulatedSession())), of: user)
    send(.audio(user, audioSnapshot(of: user)), of: user)
    send(.players(user, players(of: user)), of: user)
  }

  /// Ends the connection of an agent. In most cases, the agent attaches again later.
  private func loseAgent(_ user: UserID, _ chance: inout SeededGenerator) {
    guard sessions[user]?.isAttached == true else { return }
    sessions[user]?.isAttached = false
    if stops(user) { undoAudioOrders(of: user) }
    send(.agentLost(user), of: user)
    send(.audioLost(user), of: user)
    if chance.happens(800) {
      let delay = chance.below(chance.happens(500) ? Nanoseconds.second : 40 * Nanoseconds.second)
      schedule(after: delay, .agentAttaches(user))
    }
  }

  /// Returns whether the agent of a user stops as a service does, and undoes its changes. If false,
  /// the agent dies.
  private func stops(_ user: UserID) -> Bool {
    let number = UInt64(user.uid) << 32 | UInt64(sessions[user]?.attachment ?? 0)
    var chance = SeededGenerator(seed: options.seed, .agentStops, number)
    return chance.happens(500)
  }

  /// Sends a wrong report: instances of other users, an instance that never existed, and several
  /// instances with the focus.
  private func lie(_ user: UserID, _ chance: inout SeededGenerator) {
    guard sessions[user]?.isAttached == true else { return }
    var reports = [WindowReport(InstanceID(1 << 40), .focused)]
    for process in processes.suffix(8) {
      guard let id = process.instance else { continue }
      reports.append(WindowReport(id, chance.pick(Self.reportable)))
      if chance.happens(200) { reports.append(WindowReport(id, .focused)) }
    }
    send(.windows(user, WindowSnapshot(reports, hasFocus: chance.happens(500))), of: user)
  }

  private func toggleLock(of seat: SeatID) {
    if lockedSeats.remove(seat) != nil {
      post(.session(.unlocked(seat)))
    } else {
      lockedSeats.insert(seat)
      post(.session(.locked(seat, byRequest: false)))
    }
  }

  /// Reports that the connections of all agents ended with the daemon.
  func loseAgents(_ chance: inout SeededGenerator) {
    for user in sessions.keys.sorted() where isUp { loseAgent(user, &chance) }
  }

  /// Unlocks all seats.
  func endSessionFaults() {
    for seat in configuration.seats where lockedSeats.contains(seat) { toggleLock(of: seat) }
  }
}
