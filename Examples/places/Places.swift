import TaskSchedulerClient

/// Shows a notification when the user arrives at a place or leaves it.
///
/// The daemon monitors the regions. When the machine enters or leaves a region, the daemon resumes
/// the application, or launches it if it does not run. The application needs no background mode,
/// and the daemon turns the receiver on only for short times.
final class Places: ApplicationDelegate {
  private let regions: [CircularRegion]

  init(_ regions: [CircularRegion]) {
    self.regions = regions
  }

  // MARK: - States

  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
    // This method only prints the region. A separate event about the crossing follows.
    let region = application.launchRegion.map { ", region \($0)" } ?? ""
    say("launched (\(reason.rawValue)\(region))")
    do throws(ApplicationError) {
      try monitor(application)
    } catch {
      say("the places are not monitored: \(error)")
    }
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

  // MARK: - Regions

  /// Monitors the places of the command line, and no others.
  private func monitor(_ application: ScheduledApplication) throws(ApplicationError) {
    let known = try application.monitoredRegionsAndWait().map(\.region)
    for region in known where !regions.contains(where: { $0.identifier == region.identifier }) {
      try application.stopMonitoringAndWait(for: region.identifier)
    }
    // Monitoring an unchanged region again would replace the region. The daemon would then forget
    // on which side of the boundary the machine is.
    for region in regions where !known.contains(region) {
      let authorization = try application.startMonitoringAndWait(for: region)
      say("monitoring \(region.identifier) (\(authorization))")
    }
  }

  func application(
    _ application: ScheduledApplication,
    didChangeLocationAuthorization authorization: LocationAuthorization
  ) {
    say("location: \(authorization)")
  }

  // The return of these two methods acknowledges the event. The daemon then suspends the
  // application again if it is in the background.

  func application(_ application: ScheduledApplication, didEnterRegion crossing: RegionCrossing) {
    say("entered \(crossing.identifier)")
    notify("Welcome to: \(crossing.identifier)", application)
  }

  func application(_ application: ScheduledApplication, didExitRegion crossing: RegionCrossing) {
    say("left \(crossing.identifier)")
    notify("You have left: \(crossing.identifier)", application)
  }

  private func notify(_ title: String, _ application: ScheduledApplication) {
    do throws(ApplicationError) {
      try application.presentNotificationAndWait(NotificationContent(title: title))
    } catch {
      say("no notification: \(error)")
    }
  }
}
