import FoundationEssentials
import Synchronization
import TaskSchedulerClient

/// A navigator that speaks its hints even in the background.
///
/// With the mode `location`, the daemon does not suspend the navigator while its location updates
/// run. At the destination, the navigator stops the updates, so that the daemon can turn the
/// receiver off and suspend the navigator. While a hint plays, the audio session lowers the volume
/// of other applications. With the mode `audio`, the daemon does not suspend the navigator during a
/// hint.
final class Navigator: ApplicationDelegate {
  private struct State {
    /// The number of waypoints whose hint was given.
    var hinted = 0
    var isUnderWay = false
  }

  /// The distance from a waypoint, in meters, at which its hint is given.
  private static let hintDistance = 200.0
  /// The distance from the destination, in meters, at which the route ends.
  private static let arrivalDistance = 30.0

  private let route: Route
  private let voice: Voice
  private let state = Mutex(State())

  init(_ route: Route, voice: Voice) {
    self.route = route
    self.voice = voice
  }

  // MARK: - States

  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
    say("launched (\(reason.rawValue))")
    do throws(ApplicationError) {
      try application.setAudioSessionAndWait(.playback, options: [.mixWithOthers, .duckOthers])
    } catch {
      say("no audio session: \(error)")
    }
    start(application)
  }

  func applicationDidBecomeActive(_ application: ScheduledApplication) { say("active") }

  func applicationDidEnterBackground(_ application: ScheduledApplication) {
    say("in the background")
  }

  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError
  ) {
    say("no longer managed: \(error)")
  }

  // MARK: - The location

  private func start(_ application: ScheduledApplication) {
    do throws(ApplicationError) {
      let authorization = try application.startUpdatingLocationAndWait(
        desiredAccuracy: .best, distanceFilter: 10)
      state.withLock { $0.isUnderWay = true }
      // If the user has not decided yet, locations arrive only after the user permits them.
      say("location updates: \(authorization)")
    } catch {
      say("no location updates: \(error)")
    }
  }

  func application(
    _ application: ScheduledApplication,
    didChangeLocationAuthorization authorization: LocationAuthorization
  ) {
    say("location: \(authorization)")
  }

  func application(
    _ application: ScheduledApplication, didLoseLocationUpdatesWithError error: ApplicationError
  ) {
    say("no location updates any more: \(error)")
  }

  func application(_ application: ScheduledApplication, didUpdateLocation location: Location) {
    guard state.withLock({ $0.isUnderWay }) else { return }
    say("at \(location.inWords)")
    for hint in state.withLock({ takeHints(at: location.coordinate, &$0) }) {
      say("hint: \(hint)")
      voice.speak(hint)
    }
    if route.destination.distance(to: location.coordinate) <= Self.arrivalDistance {
      arrive(application)
    }
  }

  /// Returns the hints of the next waypoints that are near, and counts these hints as given. Stops
  /// at the first waypoint that is not near.
  private func takeHints(at place: LocationCoordinate, _ state: inout State) -> [String] {
    var hints: [String] = []
    while state.hinted < route.waypoints.count {
      let next = route.waypoints[state.hinted]
      let distance = next.coordinate.distance(to: place)
      if distance > Self.hintDistance { break }
      hints.append("in \(Int((distance / 10).rounded()) * 10) m, \(next.hint)")
      state.hinted += 1
    }
    return hints
  }

  private func arrive(_ application: ScheduledApplication) {
    state.withLock { $0.isUnderWay = false }
    // The location updates must last until the last hint has been spoken. Otherwise the daemon
    // could suspend the navigator before the hint begins to play.
    voice.waitUntilSilent()
    say("arrived: no more location updates")
    do throws(ApplicationError) {
      try application.stopUpdatingLocationAndWait()
    } catch {
      say("the location updates continue: \(error)")
    }
  }
}

extension Location {
  /// The location as a text, such as `52.51262, 13.32235 ± 17 m, 21 km/h`.
  fileprivate var inWords: String {
    var words = "\(coordinate.latitude.inDegrees), \(coordinate.longitude.inDegrees)"
    if let horizontalAccuracy { words += " ± \(Int(horizontalAccuracy.rounded(.up))) m" }
    if let speed { words += ", \(Int((speed * 3.6).rounded())) km/h" }
    return words
  }
}

extension Double {
  /// An angle with five decimal places. The last place corresponds to about 1 m on the ground.
  fileprivate var inDegrees: String {
    let units = Int((magnitude * 100_000).rounded())
    let decimals = String(units % 100_000)
    let zeros = String(repeating: "0", count: 5 - decimals.count)
    return "\(self < 0 ? "-" : "")\(units / 100_000).\(zeros)\(decimals)"
  }
}
