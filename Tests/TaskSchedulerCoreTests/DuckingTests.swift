import Testing

@testable import TaskSchedulerCore

private let user = mail.owner
private let ducking = AudioSession(.playback, ducksOthers: true)

@Suite("§13 Ducking (contract.md#audio-duck)")
struct DuckingTests {
  private func scene(
    _ change: (inout Policy) -> Void = { _ in }
  ) -> (World, player: InstanceID, prompt: InstanceID) {
    var world = World(change)
    let (player, prompt) = (world.makeUnawareAtOwnSeat(music), world.makeAwareAtOwnSeat(maps))
    world.set(prompt, ducking)
    world.start(player)
    return (world, player, prompt)
  }

  @Test("A ducking application lowers the volume of others to DuckLevel while it plays")
  func lowers() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    #expect(world.volume(player) == 13107)
    #expect(world.status(player)?.audio.isDucked == true)
    #expect(world.volume(prompt) == AudioStream.fullVolume)
    world.pause(prompt)
    #expect(world.volume(player) == AudioStream.fullVolume)
    #expect(world.status(player)?.audio.isDucked == false)
  }

  @Test("DuckLevel is a percentage of the volume; 100 lowers nothing", arguments: [50, 100])
  func level(_ percent: Int) {
    var (world, player, prompt) = scene { $0.duckLevel = percent }
    world.start(prompt)
    #expect(world.volume(player) == AudioStream.fullVolume * percent / 100)
    #expect(world.status(player)?.audio.isDucked == (percent < 100))
  }

  @Test("A stream that begins while a ducking application plays is lowered, too")
  func newStream() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    world.beginStream(player, volume: 30_000)
    world.feed(world.audioReport)
    #expect(world.volume(player) == 6000)
    world.pause(prompt)
    #expect(world.volume(player) == 30_000)
  }

  @Test("A volume that the user changes meanwhile stays as it is")
  func userChange() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    world.streams[0].volume = 40_000
    world.feed(world.audioReport)
    #expect(world.volume(player) == 40_000)
    #expect(world.status(player)?.audio.isDucked == false)
    world.pause(prompt)
    #expect(world.volume(player) == 40_000)
    world.start(prompt)
    #expect(world.volume(player) == 8000)
  }

  @Test("If a stream ends with a lowered volume, the next stream gets the volume back")
  func nextStream() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    world.streams.removeAll { $0.instance == player }
    world.feed(world.audioReport)
    world.pause(prompt)
    // The server remembers the lowered volume, so the next stream begins with it.
    world.beginStream(player, volume: 13107)
    world.feed(world.audioReport)
    #expect(world.volume(player) == AudioStream.fullVolume)
  }

  @Test("A stream that the server begins at a lowered volume is restored with the others")
  func inheritedVolume() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    world.beginStream(player, volume: 13107)
    world.feed(world.audioReport)
    #expect(world.volume(player) == 13107)
    world.pause(prompt)
    #expect(world.streams.filter { $0.instance == player }.map(\.volume) == [65536, 65536])
  }

  @Test("A stream of another program that the server begins at a lowered volume is restored")
  func otherProgram() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    let memory = world.memory(of: player)
    let stream = AudioStreamID(server: 1, index: 99)
    world.streams.append(AudioStream(stream, of: nil, volume: 13107, memory: memory))
    world.feed(world.audioReport)
    #expect(world.streams.last?.volume == AudioStream.fullVolume)
    #expect(world.volume(player) == 13107)
  }

  @Test("A stream that is restored, and then belongs to an application, keeps its volume")
  func adopted() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    world.muting = .never
    let stream = AudioStreamID(server: 1, index: 99)
    let memory = world.memory(of: player)
    world.streams.append(AudioStream(stream, of: nil, volume: 13107, memory: memory))
    world.feed(world.audioReport)
    // The agent has not restored the volume yet.
    world.streams[world.streams.count - 1].instance = player
    world.feed(world.audioReport)
    world.pause(prompt)
    let last = world.scheduler.audioOrders(for: user).volumes.first { $0.stream == stream }
    #expect(last == AudioVolumeChange(stream, from: 13107, to: AudioStream.fullVolume))
  }

  @Test("The end of an application gives its volume back")
  func end() {
    var (world, player, prompt) = scene()
    world.start(prompt)
    world.feed(.process(.leaderExited(player, .exited(code: 0))))
    #expect(world.streams.first?.volume == AudioStream.fullVolume)
  }

  @Test("A lowered volume is given back after kill -9 of the daemon, and by the next agent")
  func crash() throws {
    var (world, player, prompt) = scene()
    world.start(prompt)
    try world.crash()
    #expect(world.scheduler.audioOrders(for: user).volumes.map(\.to) == [13107])
    world.muting = .never
    world.pause(prompt)
    #expect(world.volume(player) == 13107)
    #expect(world.scheduler.audioOrders(for: user).volumes.map(\.to) == [65536])
    world.feed(.session(.audioLost(user)))
    world.advance(by: .seconds(60))
    #expect(world.scheduler.audioOrders(for: user).volumes.map(\.to) == [65536])
  }

  @Test("A server that ducks and pauses by roles is left alone (contract.md#audio-roles-left)")
  func managedRoles() {
    var (world, player, prompt) = scene()
    world.serverManagesRoles = true
    world.start(prompt)
    #expect(world.volume(player) == AudioStream.fullVolume)
    let other = world.makeAwareAtOwnSeat(mail)
    world.start(other)
    #expect(world.interruptions(other) == [])
    #expect(!world.isMuted(player))
  }
}
