import FoundationEssentials
import Testing

@testable import TaskSchedulerCore

private let user = mail.owner

private let ducking = AudioSession(.playback, ducksOthers: true)
private let mixing = AudioSession(.playback, mixesWithOthers: true)

@Suite("§13 An exclusive application interrupts another (contract.md#audio-takeover)")
struct AudioTakeoverTests {
  @Test("An exclusive application that begins to play interrupts one that began earlier")
  func told() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    #expect(world.interruptions(first) == [.began])
    #expect(world.interruptions(second) == [])
    #expect(world.status(first)?.audio.interrupter == .application(maps.id))
  }

  @Test("An active application stays active when another application interrupts it")
  func staysActive() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    #expect(world.state(first) == .active)
  }

  @Test("The interruption ends AudioGraceTime after the newer application has ceased to play")
  func ends() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    world.pause(first)
    world.pause(second)
    world.advance(by: .seconds(4.9))
    #expect(world.interruptions(first) == [.began])
    world.advance(by: .seconds(0.1))
    #expect(world.interruptions(first) == [.began, .ended(shouldResume: false)])
  }

  @Test("A track change does not end the interruption")
  func trackChange() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeUnawareAtOwnSeat(maps, []))
    world.start(first)
    world.start(second)
    world.streams.removeAll { $0.instance == second }
    world.feed(world.audioReport)
    world.advance(by: .seconds(4))
    world.start(second)
    world.advance(by: .seconds(60))
    #expect(world.interruptions(first) == [.began])
  }

  @Test("The end of the newer application ends the interruption")
  func leaderExits() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeUnawareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    world.feed(.process(.leaderExited(second, .exited(code: 0))))
    #expect(world.interruptions(first) == [.began, .ended(shouldResume: false)])
  }

  @Test("A media player is paused, and does not play by itself at the end")
  func paused() {
    var world = World()
    let (first, second) = (world.makeUnawareAtOwnSeat(music), world.makeUnawareAtOwnSeat(maps))
    world.feed(.session(.players(user, [first])))
    world.start(first)
    world.start(second)
    #expect(world.commands == [.pause])
    world.pause(first)
    world.endPlaying(second)
    world.advance(by: .seconds(60))
    #expect(world.commands == [.pause])
  }

  @Test("An application that is neither aware nor a media player is muted until the end")
  func muted() {
    var world = World()
    let (first, second) = (world.makeUnawareAtOwnSeat(music), world.makeUnawareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    #expect(world.isMuted(first))
    #expect(!world.isMuted(second))
    world.beginStream(first)
    world.feed(world.audioReport)
    #expect(!world.isMuted(second))
    #expect(!world.streams.contains { $0.instance == first && !$0.isMuted })
    world.endPlaying(second)
    #expect(!world.isMuted(first))
  }

  @Test("A muted application whose playback begins again interrupts the newer one")
  func mutedStartedAgain() {
    var world = World()
    let (first, second) = (world.makeUnawareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    #expect(world.isMuted(first))
    world.pause(first)
    world.start(first)
    #expect(!world.isMuted(first))
    #expect(world.status(first)?.audio.interrupter == nil)
    #expect(world.interruptions(second) == [.began])
  }

  @Test("An aware application that plays again during its interruption interrupts the newer one")
  func startedAgain() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    world.pause(first)
    world.advance(by: .seconds(60))
    world.start(first)
    #expect(world.interruptions(first) == [.began, .ended(shouldResume: false)])
    #expect(world.interruptions(second) == [.began])
  }

  @Test("A command to a paused media player lets it interrupt the newer application")
  func commanded() {
    var world = World()
    let (first, second) = (world.makeUnawareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.feed(.session(.players(user, [first])))
    world.start(first)
    world.start(second)
    world.pause(first)
    world.feed(.session(.playerCalled(user, first, .command)))
    world.start(first)
    #expect(world.status(first)?.audio.interrupter == nil)
    #expect(world.interruptions(second) == [.began])
  }

  @Test("A session in its AudioGraceTime ends when a newer exclusive application plays")
  func graceEnds() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.pause(first)
    world.advance(by: .seconds(1))
    world.start(second)
    world.advance(by: .seconds(1))
    world.start(first)
    #expect(world.interruptions(first) == [])
    #expect(world.interruptions(second) == [.began])
  }

  @Test("Applications that were found playing together do not interrupt each other")
  func together() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.beginStream(first)
    world.beginStream(second)
    world.feed(world.audioReport)
    #expect(world.interruptions(first) + world.interruptions(second) == [])
  }

  @Test("Applications of other users are not interrupted")
  func otherUser() {
    var world = World()
    let other = key("org.example.other", uid: 1001)
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(other))
    world.start(first)
    let stream = AudioStream(AudioStreamID(server: 9, index: 1), of: second)
    world.feed(.session(.audio(other.owner, AudioSnapshot([stream]))))
    #expect(world.interruptions(first) == [])
  }

  @Test("A suspended application interrupts nothing when an agent stops and another one starts")
  func suspendedDoesNotBegin() {
    var world = World()
    let suspended = world.makeUnawareAtOwnSeat(mail, [])
    world.start(suspended)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.state(suspended) == .suspended)
    world.advance(by: .seconds(10))
    let player = world.makeAwareAtOwnSeat(music)
    world.start(player)
    world.muting = .never
    // When the agent stops, it ends all mutes.
    world.feed(.session(.audioLost(mail.owner)))
    for index in world.streams.indices { world.streams[index].isMuted = false }
    world.feed(world.audioReport)
    #expect(world.interruptions(player) == [])
  }

  @Test("Interruptions by applications survive a restart of the daemon")
  func crash() throws {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    try world.crash()
    world.feed(world.audioReport)
    #expect(world.interruptions(first) == [.began])
    world.pause(first)
    world.endPlaying(second)
    #expect(world.interruptions(first) == [.began, .ended(shouldResume: false)])
  }
}

@Suite("§13 Phone calls and audio sessions (contract.md#audio-should-resume)")
struct AudioSessionCallTests {
  @Test("After a call, only the application that played last before the call is told to resume")
  func order() {
    var world = World()
    let (first, second) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(first)
    world.start(second)
    world.pause(first)
    world.feed(.session(.modemCalls([ModemCall("/1", isAnswered: false)])))
    world.acknowledgeAll(second)
    world.pause(second)
    world.advance(by: .seconds(60))
    world.feed(.session(.modemCalls([])))
    #expect(world.interruptions(second) == [.began, .ended(shouldResume: true)])
    #expect(world.interruptions(first) == [.began])
    world.advance(by: .seconds(60))
    #expect(world.interruptions(first) == [.began, .ended(shouldResume: false)])
  }

  @Test("What the phone plays after its call does not interrupt the music")
  func afterCall() {
    var world = World()
    let (player, phone) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(mail))
    world.start(player)
    #expect(world.ask { .application(.beginCall($0, phone)) } == .done)
    world.pause(player)
    world.start(phone)
    #expect(world.ask { .application(.endCall($0, phone)) } == .done)
    #expect(world.interruptions(player) == [.began, .ended(shouldResume: true)])
    world.start(player)
    world.endPlaying(phone)
    #expect(world.interruptions(player) == [.began, .ended(shouldResume: true)])
  }

  @Test(
    "A stream of role phone that also records is a phone call (contract.md#call-stream)")
  func streams() {
    var world = World()
    let (player, phone) = (world.makeAwareAtOwnSeat(music), world.makeUnawareAtOwnSeat(mail, []))
    world.start(player)
    world.start(phone, role: .phone)
    #expect(world.status(phone)?.audio.isInCall == false)
    world.start(phone, .recording)
    #expect(world.status(phone)?.audio.isInCall == true)
    #expect(world.interruptions(player).first == .began)
    world.pause(player)
    world.pause(phone)
    #expect(world.status(phone)?.audio.isInCall == false)
  }

  @Test("Music that a ringing phone has interrupted plays again after the call")
  func rings() {
    var world = World()
    let (player, phone) = (world.makeAwareAtOwnSeat(music), world.makeUnawareAtOwnSeat(mail, []))
    world.start(player)
    world.start(phone, role: .phone)
    #expect(world.status(player)?.audio.interrupter == .application(mail.id))
    world.pause(player)
    world.start(phone, .recording)
    #expect(world.status(player)?.audio.interrupter == .phoneCall)
    world.pause(phone)
    #expect(world.interruptions(player) == [.began, .ended(shouldResume: true)])
  }

  @Test("If a call by streams ends because the agent is lost, the music plays again")
  func agentLost() {
    var world = World()
    let (player, other) = (world.makeAwareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    let phone = world.makeUnawareAtOwnSeat(mail, [])
    world.start(player)
    world.start(phone, .recording)
    world.start(phone, role: .phone)
    world.acknowledgeAll(player)
    // During the call, another application begins to play.
    world.start(other)
    world.acknowledgeAll(other)
    world.feed(.session(.audioLost(user)))
    world.advance(by: .seconds(10))
    #expect(world.interruptions(player).last == .ended(shouldResume: true))
    #expect(world.interruptions(other).last == .ended(shouldResume: true))
  }

  @Test("A call by streams continues while the phone records nothing")
  func mutedMicrophone() {
    var world = World()
    let phone = world.makeUnawareAtOwnSeat(mail, [])
    world.start(phone, role: .phone)
    world.start(phone, .recording)
    world.streams.removeAll { $0.direction == .recording }
    world.feed(world.audioReport)
    #expect(world.status(phone)?.audio.isInCall == true)
  }

  @Test("EndCall does not end a call that continues as streams")
  func both() {
    var world = World()
    let phone = world.makeAwareAtOwnSeat(mail)
    #expect(world.ask { .application(.beginCall($0, phone)) } == .done)
    world.start(phone, role: .phone)
    world.start(phone, .recording)
    #expect(world.ask { .application(.endCall($0, phone)) } == .done)
    #expect(world.status(phone)?.audio.isInCall == true)
    world.pause(phone)
    #expect(world.status(phone)?.audio.isInCall == false)
  }
}

@Suite("§13 Audio sessions (contract.md#audio-session)")
struct AudioSessionTests {
  @Test(
    "Without a declared session, the roles of the streams decide (contract.md#audio-derived)",
    arguments: [
      ([AudioRole.other], false, AudioRank.exclusive), ([.phone], false, .exclusive),
      ([.event], false, .mixing), ([.notification], false, .ducking),
      ([.accessibility, .event], false, .ducking), ([.event, .other], false, .exclusive),
      ([], true, .mixing), ([.other], true, .exclusive),
    ])
  func derived(_ roles: [AudioRole], _ records: Bool, _ rank: AudioRank) {
    var world = World()
    let id = world.makeUnawareAtOwnSeat(music)
    for role in roles { world.beginStream(id, role: role) }
    if records { world.beginStream(id, .recording) }
    world.feed(world.audioReport)
    #expect(world.scheduler.sessions.audio[user]?.active[id]?.rank == rank)
  }

  @Test("duckOthers comes before mixWithOthers, and ambient always mixes")
  func ranks() {
    #expect(AudioSession(.ambient).rank == .mixing)
    #expect(AudioSession(.soloAmbient).rank == .exclusive)
    #expect(AudioSession(.record).rank == .exclusive)
    #expect(AudioSession(.playback, mixesWithOthers: true, ducksOthers: true).rank == .ducking)
  }

  @Test("An aware application that records is interrupted by a phone call")
  func recorder() {
    var world = World()
    let id = world.makeAwareAtOwnSeat(mail)
    world.start(id, .recording)
    world.feed(.session(.modemCalls([ModemCall("/1", isAnswered: true)])))
    #expect(world.interruptions(id) == [.began])
  }

  @Test("A change of the session while the application plays applies at once")
  func changed() {
    var world = World()
    let (player, prompt) = (world.makeUnawareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.start(prompt)
    world.set(prompt, mixing)
    world.start(player)
    #expect(world.volume(player) == AudioStream.fullVolume)
    world.set(prompt, ducking)
    #expect(world.volume(player) == 13107)
    world.set(prompt, mixing)
    #expect(world.volume(player) == AudioStream.fullVolume)
  }

  @Test("SetAudioSession is refused for an instance that has ended or terminates")
  func refused() {
    var world = World()
    #expect(
      world.set(InstanceID(99), mixing) == .refused(.invalidState(.notRunning)))
    let id = world.makeAwareAtOwnSeat(mail)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.set(id, mixing) == .refused(.terminating))
  }
}

@Suite("§13 The order of audio (contract.md#audio-order)")
struct AudioOrderTests {
  /// The kinds of audio, in the words of the contract's table.
  enum Player: String, CaseIterable {
    case phoneCall = "phone call"
    case exclusive, ducking, mixing
  }

  private func begin(_ player: Player, _ app: ApplicationKey, in world: inout World) -> InstanceID {
    let id = world.makeAwareAtOwnSeat(app)
    switch player {
    case .phoneCall: world.ask { .application(.beginCall($0, id)) }
    case .exclusive: break
    case .ducking: world.set(id, ducking)
    case .mixing: world.set(id, mixing)
    }
    world.start(id)
    return id
  }

  private func outcome(_ plays: Player, _ begins: Player) -> String {
    var world = World()
    let older = begin(plays, music, in: &world)
    let newer = begin(begins, maps, in: &world)
    func words(_ id: InstanceID) -> String? {
      if world.status(id)?.audio.interrupter != nil { return "interrupted" }
      if world.status(id)?.audio.isDucked == true { return "ducked" }
      return world.scheduler.calls.held.contains(id) ? "on hold" : nil
    }
    return words(older) ?? words(newer).map { "the newer is \($0)" } ?? "both play"
  }

  @Test("The scheduler does what the table in the contract says")
  func table() throws {
    var lines = ["| plays | " + Player.allCases.map(\.rawValue).joined(separator: " | ") + " |"]
    for plays in Player.allCases {
      let cells = Player.allCases.map { outcome(plays, $0) }
      lines.append("| \(plays.rawValue) | " + cells.joined(separator: " | ") + " |")
    }
    print(lines.joined(separator: "\n"))
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let document = try String(contentsOfFile: "/\(root)/docs/contract.md", encoding: .utf8)
    for line in lines { #expect(document.contains(line), "docs/contract.md lacks: \(line)") }
  }
}
