import Glibc
import TaskSchedulerWire

extension DaemonFixture {
  /// Simulates a location for all users.
  func post(latitude: Double, longitude: Double, accuracy: Double = 10) throws {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    try call(
      ControlInterface.PostLocation.self,
      .init(
        location: .init(
          latitude: latitude, longitude: longitude, accuracy: accuracy,
          measuredAtUSec: now.tv_sec * 1_000_000 + now.tv_nsec / 1000)))
  }
}
