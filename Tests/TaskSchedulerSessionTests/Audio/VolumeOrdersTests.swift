import Testing

@testable import TaskSchedulerSession

@Suite("§13 Orders to change volumes")
struct VolumeOrdersTests {
  /// The volume orders of a test. The test adds changes for stream 3, by default on server 1.
  private struct Scene {
    var orders = VolumeOrders()

    mutating func add(from: Int, to: Int, of server: UInt64 = 1) {
      orders.add(AudioVolumeChange(3, from: from, to: to), of: server)
    }

    /// Returns the volumes that the agent must set when the stream is listed with this volume.
    mutating func take(at volume: Int, of server: UInt64 = 1) -> [Int] {
      orders.take([3: volume], of: server).map(\.volume)
    }
  }

  @Test("A change is sent once, and again after a new connection until a list confirms it")
  func outstanding() {
    var scene = Scene()
    scene.add(from: 60_000, to: 12_000)
    #expect(scene.take(at: 60_000) == [12_000])
    #expect(scene.take(at: 60_000) == [])
    scene.orders.disconnected()
    #expect(scene.take(at: 60_064) == [12_000], "servers round volumes")
    #expect(scene.take(at: 11_990) == [])
    scene.orders.disconnected()
    #expect(scene.take(at: 60_000) == [], "the user may change a confirmed volume")
  }

  @Test("A volume that the user changed is left alone", arguments: [59_935, 60_065, 12_000, 0])
  func changedByUser(_ volume: Int) {
    var scene = Scene()
    scene.add(from: 60_000, to: 12_000)
    #expect(scene.take(at: volume) == [])
    #expect(scene.take(at: 60_000) == [], "the order is forgotten")
  }

  @Test("A volume that is lowered and raised at once has its original volume")
  func loweredAndRaised() {
    var scene = Scene()
    scene.add(from: 60_000, to: 12_000)
    #expect(scene.take(at: 60_000) == [12_000])
    scene.add(from: 12_000, to: 60_000)
    #expect(scene.take(at: 60_000) == [60_000], "the list may not show the lower volume yet")
    #expect(scene.take(at: 60_000) == [])
  }

  @Test("If only the first of two changes was made, the second one is made after a new connection")
  func secondLost() {
    var scene = Scene()
    scene.add(from: 60_000, to: 12_000)
    #expect(scene.take(at: 60_000) == [12_000])
    scene.add(from: 12_000, to: 60_000)
    scene.orders.disconnected()
    #expect(scene.take(at: 12_000) == [60_000])
  }

  @Test("Changes that no connection has sent yet are made as one")
  func joined() {
    var scene = Scene()
    scene.add(from: 60_000, to: 12_000)
    scene.add(from: 12_000, to: 6000)
    #expect(scene.take(at: 60_000) == [6000])
  }

  @Test("A change that does not continue from the outstanding one replaces it")
  func replaced() {
    var scene = Scene()
    scene.add(from: 60_000, to: 12_000)
    scene.add(from: 30_000, to: 6000)
    #expect(scene.take(at: 30_000) == [6000])
  }

  @Test("The orders for ended streams and for another start of the server are forgotten")
  func forgotten() {
    var scene = Scene()
    scene.add(from: 60_000, to: 12_000)
    #expect(scene.orders.take([:], of: 1).isEmpty)
    #expect(scene.take(at: 60_000) == [])
    scene.add(from: 60_000, to: 12_000, of: 2)
    #expect(scene.take(at: 60_000) == [])
    #expect(scene.take(at: 60_000, of: 2) == [])
  }
}
