import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TestSupport

@testable import TaskSchedulerDaemon

/// An event loop, and the events that sources of locations post on it.
final class LocationWatcher {
  let watcher: ChangeWatcher
  var loop: EventLoop { watcher.loop }
  private(set) var events: [LocationEvent] = []

  init() throws { watcher = try ChangeWatcher() }

  /// The closure to which the sources post.
  var post: (LocationEvent) -> Void { { [unowned self] in events.append($0) } }

  /// Returns the availability of a source in the last event about it; nil if there is no such
  /// event.
  func availability(of source: LocationSource) -> Bool? {
    for event in events.reversed() {
      if case .sourceChanged(source, let isAvailable) = event { return isAvailable }
    }
    return nil
  }

  /// The locations of gpsd.
  var locations: [Location] {
    events.compactMap { event in
      if case .located(.gpsd, let location) = event { location } else { nil }
    }
  }

  var moveCount: Int { events.count { $0 == .moved } }

  /// Forgets all events.
  func clear() { events = [] }

  /// Runs the loop until a condition holds.
  func wait(for what: String, until isSo: () throws -> Bool) throws {
    var failure: (any Error)?
    try watcher.wait(for: what) {
      do {
        return try isSo()
      } catch {
        failure = error
        return true
      }
    }
    if let failure { throw failure }
  }

  func wait(for source: LocationSource, toBeAvailable isAvailable: Bool) throws {
    try wait(for: "\(source) \(isAvailable ? "" : "not ")to be available") {
      availability(of: source) == isAvailable
    }
  }

  /// Handles all events that have arrived. Each turn of the loop handles at least one event.
  func settle() throws {
    var hasTurned = false
    let idle = try loop.whenIdle { hasTurned = true }
    idle.request()
    while !hasTurned { try loop.turn(within: .seconds(1)) }
  }
}
