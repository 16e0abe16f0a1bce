import Glibc
import LinuxSystem
import TaskSchedulerWire

/// Kills the session agent, the daemon, the audio server and the compositor in turn while the focus
/// changes. Checks that the states of the applications follow the focus. Also checks that suspended
/// applications are muted, that active applications play and are not muted, and that no volume
/// stays lowered.
///
/// Each window has its own workspace, and its program plays audio. A further workspace is empty.
/// After each kill, the campaign changes the focus several times. The last change goes to a random
/// workspace. The campaign then waits until the states agree with the focus.
///
/// Before each kill, an additional application plays a notification sound, which lowers the volumes
/// of the other applications. The campaign terminates this application before it checks the
/// streams.
///
/// The streams of all windows have the same media role. The audio server remembers the mute and the
/// volume of one stream for its role, and applies them to every new stream. The campaign therefore
/// also finds a mute or a volume that the server has wrongly remembered.
final class DesktopCampaign {
  struct Options {
    var kills: Int
    var seed: UInt64
    /// Whether a session agent runs. Without one, the campaign must report findings.
    var hasAgent = true
  }

  private enum Victim: String, CaseIterable {
    case agent = "the session agent"
    case daemon = "the daemon"
    case audioServer = "the audio server"
    case compositor = "the compositor"
  }

  private static let windowCount = 4
  private static let prompt = "org.chaos.prompt"
  /// The maximum time until the states agree with the focus. It is the sum of `SessionGraceTime`,
  /// `FocusSettleTime` and `HiddenGraceTime` in ``Settings/desktop(logLevel:)``, and of twice the
  /// tolerance.
  private static let settleTime: UInt64 = 1_600_000_000 + 2 * Settings.slack

  private let options: Options
  private let proc: ProcFS
  private var chance: SeededGenerator
  private var findings = Findings()
  private var stolenTime = StolenTime()
  private var kills = 0
  /// The longest time from the last change of the focus until the states and the streams agreed
  /// with the focus, by victim.
  private var longest: [Victim: UInt64] = [:]
  private var excused = 0
  private var agent: PIDFD?
  private var compositor: ChaosCompositor
  private var audio: ChaosAudio
  /// The applications whose windows the compositor shows, by workspace.
  private var applications: [String] = []

  init(_ options: Options) throws {
    self.options = options
    proc = try ProcFS()
    chance = SeededGenerator(seed: options.seed, for: -3)
    compositor = try ChaosCompositor()
    audio = try ChaosAudio()
    try startAgent()
  }

  private func startAgent() throws {
    guard options.hasAgent else { return }
    agent = try ChaosCompositor.startInSession([Settings.agent, "--socket", Settings.socket])
  }

  /// - Returns: Whether the states followed the focus after every kill.
  func run() throws -> Bool {
    _ = Daemon.waitUntilServed()
    try openWindows()
    print(
      "killing the session agent, the daemon, the audio server and the compositor "
        + "\(options.kills) times")
    while kills < options.kills {
      let victim = Victim.allCases[kills % Victim.allCases.count]
      stolenTime.sample()
      try changeFocus(times: chance.below(20))
      try lowerVolumes()
      try kill(victim)
      try changeFocus(times: chance.below(20))
      try check(after: victim)
    }
    summarize()
    return findings.isEmpty
  }

  // MARK: Windows

  /// Opens all windows, one after another, and waits until the daemon manages their programs.
  private func openWindows() throws {
    applications = (0..<Self.windowCount).map { "org.chaos.window\($0).kill\(kills)" }
    for (workspace, id) in applications.enumerated() {
      try compositor.run("workspace \(workspace)")
      try compositor.run(
        "exec taskctl run --id \(id) -- foot --app-id window\(workspace) "
          + "pacat --property=media.role=event --client-name=\(id) /dev/zero")
      try wait("the window of \(id)") { try self.compositor.shows("window\(workspace)") }
    }
  }

  /// Changes the focus to random workspaces, with pauses of up to 50 ms.
  private func changeFocus(times: Int) throws {
    for _ in 0..<times {
      try compositor.run("workspace \(chance.below(Self.windowCount + 1))")
      _ = poll(nil, 0, Int32(chance.below(50)))
    }
  }

  /// Shows a window, starts the application that lowers the volumes of others, and waits until the
  /// volume of the window's stream is lowered.
  private func lowerVolumes() throws {
    guard options.hasAgent else { return }
    try compositor.run("workspace 0")
    try compositor.run(
      "exec taskctl run --id \(Self.prompt) -- pacat --property=media.role=notification "
        + "--client-name=\(Self.prompt) /dev/zero")
    let shown = applications[0]
    try wait("a lower volume") { try self.audio.streams()[shown]?.isLowered == true }
  }

  // MARK: Killing

  private func kill(_ victim: Victim) throws {
    switch victim {
    case .agent:
      if let agent = agent.take() { try end(agent) }
      try startAgent()
    case .daemon:
      guard let daemon = Daemon.process(in: proc) else {
        throw Failure(sentence: "no daemon runs")
      }
      _ = try daemon.send(signal: SIGKILL)
      _ = try daemon.waitForEnd(timeout: .seconds(5))
    case .audioServer:
      try end(audio.process)
      // A suspended program does not notice that its server has died, so it would not end.
      for id in applications { try terminate(id) }
      audio = try ChaosAudio()
      kills += 1
      return try openWindows()
    case .compositor:
      try end(compositor.process)
      for id in applications { try terminate(id) }
      compositor = try ChaosCompositor()
      kills += 1
      return try openWindows()
    }
    kills += 1
  }

  private func end(_ process: borrowing PIDFD) throws {
    _ = try process.send(signal: SIGKILL)
    _ = try process.wait()
  }

  private func terminate(_ id: String) throws {
    do {
      _ = try Daemon.call(ControlInterface.Terminate.self, .init(application: id))
    } catch is ControlInterface.Failure {
      // The application has already ended.
    }
  }

  // MARK: Checks

  /// Shows a random workspace, waits until the states agree with the focus, and then checks the
  /// streams.
  private func check(after victim: Victim) throws {
    let workspace = chance.below(Self.windowCount + 1)
    try compositor.run("workspace \(workspace)")
    let start = BootClock.now()
    var wrong = try wrongStates(workspace)
    while !wrong.isEmpty, BootClock.now() < start + Self.settleTime {
      _ = poll(nil, 0, 5)
      wrong = try wrongStates(workspace)
    }
    try terminate(Self.prompt)
    if wrong.isEmpty { wrong = try waitForStreams() }
    longest[victim] = max(longest[victim] ?? 0, BootClock.now() - start)
    stolenTime.sample()
    if !wrong.isEmpty, stolenTime.explainsDelay(BootClock.now()) {
      excused += wrong.count
      return
    }
    for text in wrong {
      findings.add(
        "after the death of \(victim.rawValue): \(text)", nil, at: BootClock.now(),
        afterKill: kills)
    }
  }

  /// Returns the states that do not agree with the focus on a workspace.
  private func wrongStates(_ workspace: Int) throws -> [String] {
    let listed = try Daemon.call(ControlInterface.ListApplications.self, .init()).applications
    return applications.enumerated().compactMap { number, id in
      guard let application = listed.first(where: { $0.application == id }),
        let instance = application.instance
      else { return "\(id) is not managed" }
      let isStopped = proc.isStopped(Int32(instance.pid))
      switch (number == workspace, application.state) {
      case (true, .active):
        return isStopped ? "\(id) has the focus, and is stopped" : nil
      case (false, .suspended):
        return isStopped || instance.suspending ? nil : "\(id) is suspended, and is not stopped"
      case (false, .background):
        return isStopped && !instance.suspending
          ? "\(id) is in the background, and is stopped" : nil
      case (true, .notRunning), (true, .inactive), (true, .background), (true, .suspended):
        return "\(id) has the focus, and is \(application.state.rawValue)"
      case (false, .notRunning), (false, .inactive), (false, .active):
        return "\(id) is hidden, and is \(application.state.rawValue)"
      }
    }
  }

  /// Waits for up to `settleTime` until suspended applications are muted, active applications play
  /// and are not muted, and no volume is lowered. Returns descriptions of the streams that are
  /// still wrong.
  private func waitForStreams() throws -> [String] {
    let end = BootClock.now() + Self.settleTime
    var wrong = try wrongStreams()
    while !wrong.isEmpty, BootClock.now() < end {
      _ = poll(nil, 0, 5)
      wrong = try wrongStreams()
    }
    return wrong
  }

  private func wrongStreams() throws -> [String] {
    let listed = try Daemon.call(ControlInterface.ListApplications.self, .init()).applications
    let streams = try audio.streams()
    return applications.compactMap { id in
      if streams[id]?.isLowered == true { return "the volume of \(id) is still lowered" }
      return switch (listed.first { $0.application == id }?.state, streams[id]?.isMuted) {
      case (.active, true): "\(id) is active, and is muted"
      case (.active, nil): "\(id) is active, and does not play"
      case (.suspended, false): "\(id) is suspended, and is not muted"
      case (.active, false), (.suspended, true), (.suspended, nil), (.background, _),
        (.inactive, _), (.notRunning, _), (nil, _):
        nil
      }
    }
  }

  /// Waits until a condition holds, for up to 20 s.
  private func wait(_ what: String, until isReached: () throws -> Bool) throws {
    let end = BootClock.now() + 20_000_000_000
    while try !isReached() {
      guard BootClock.now() < end else { throw Failure(sentence: "waited 20 s for \(what)") }
      _ = poll(nil, 0, 5)
    }
  }

  private func summarize() {
    print("\n\(Self.windowCount) windows, \(kills) kills")
    for victim in Victim.allCases {
      let milliseconds = (longest[victim] ?? 0) / 1_000_000
      print(
        "  longest time until the states followed the focus after the death of "
          + "\(victim.rawValue): \(milliseconds) ms")
    }
    print(
      "  other guests of the hypervisor took \(Int(stolenTime.share * 100)) % of the CPU time "
        + "that this machine needed; \(excused) wrong states are ignored for this reason")
    if findings.isEmpty {
      print("  no findings: every state followed the focus, and so did the mutes and volumes")
    } else {
      print("\n\(findings.count) findings:\n\(findings.text)")
    }
  }
}

extension ProcFS {
  /// Returns whether no thread of a process can run, because all are stopped or the control group
  /// is frozen.
  func isStopped(_ pid: Int32) -> Bool {
    if let group = (try? ControlGroup.of(pid, in: self)) ?? nil,
      Files.text(group.path + "/cgroup.events")?.contains("frozen 1") == true
    {
      return true
    }
    guard let threads = (try? threadStates(pid)) ?? nil else { return true }
    return threads.allSatisfy { $0.state == .stopped || $0.state == .tracingStop }
  }
}
