import Testing

@testable import TaskSchedulerDaemon

@Suite("§17: Moves that cells and access points show")
struct RadioChangesTests {
  private var changes = RadioChanges()

  @Test("A source is available while there is a transmitter, and reports each change once")
  mutating func availability() {
    #expect(changes.isAvailable == nil)
    #expect(changes.update([]) == [.availabilityChanged(false)])
    #expect(changes.update([]) == [])
    #expect(changes.update(["a"]) == [.availabilityChanged(true)])
    #expect(changes.update(["b"]) == [], "moves are not watched")
    #expect(changes.update([]) == [.availabilityChanged(false)])
    #expect(changes.isAvailable == false)
  }

  @Test("Another transmitter is a move; the first ones of a watch are not")
  mutating func moves() {
    #expect(changes.update(["a"]) == [.availabilityChanged(true)])
    changes.isWatched = true
    #expect(changes.update(["b"]) == [])
    #expect(changes.update(["b"]) == [])
    #expect(changes.update(["c"]) == [.moved])
    #expect(changes.update(["c", "d"]) == [.moved])
    #expect(changes.update(["d"]) == [], "one of two modems has lost its network")
    changes.isWatched = false
    #expect(changes.update(["e"]) == [])
    changes.isWatched = true
    #expect(changes.update(["f"]) == [])
  }

  @Test("A transmitter that is lost and found again is not a move; another one is")
  mutating func interruptions() {
    changes.isWatched = true
    #expect(changes.update(["a"]) == [.availabilityChanged(true)])
    #expect(changes.update([]) == [.availabilityChanged(false)])
    #expect(changes.update(["a"]) == [.availabilityChanged(true)])
    #expect(changes.update([]) == [.availabilityChanged(false)])
    #expect(changes.update(["b"]) == [.availabilityChanged(true), .moved])
  }

  @Test("A transmitter that is found after the watch began without one is a move")
  mutating func found() {
    changes.isWatched = true
    #expect(changes.update([]) == [.availabilityChanged(false)])
    #expect(changes.update(["a"]) == [.availabilityChanged(true), .moved])
  }
}
