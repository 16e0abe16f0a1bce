import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// The sources of locations that the daemon reads itself (contract §17): gpsd, the cells of
/// modems, and the access points of wireless networks. Session agents read GeoClue.
///
/// Each source is optional, and works as soon as it exists. gpsd turns on its receivers while the
/// daemon is connected to gpsd, so the daemon connects only while it needs locations.
final class LocationSources {
  private let log: Log
  private let loop: EventLoop
  private let post: (LocationEvent) -> Void
  private let gpsd: GPSDSource
  private let cell: CellSource
  private let accessPoint: AccessPointSource
  private var moveTimer: TimerSource?
  private var movedAt: UInt64?

  /// The minimum time between two reports of moves, however often a radio changes. Source: this
  /// project.
  static let moveInterval: Duration = .seconds(1)

  /// - Parameters:
  ///   - gpsdSocket: The absolute path of gpsd's socket, which need not exist.
  ///   - post: Called for each event, even from within ``start()``, ``need(_:)`` and assignments to
  ///     ``gpsdSocket``.
  init(
    loop: EventLoop, log: Log, gpsdSocket: String, systemBus: BusAddress,
    post: @escaping (LocationEvent) -> Void
  ) {
    self.loop = loop
    self.log = log
    self.post = post
    gpsd = GPSDSource(path: gpsdSocket, loop: loop, log: log) { occurrence in
      switch occurrence {
      case .availabilityChanged(let isAvailable):
        post(.sourceChanged(.gpsd, isAvailable: isAvailable))
      case .located(let location):
        post(.located(.gpsd, location))
      }
    }
    cell = CellSource(loop: loop, systemBus: systemBus)
    accessPoint = AccessPointSource(loop: loop, systemBus: systemBus)
    cell.report = { [weak self] in self?.heard($0, of: .cell) }
    accessPoint.report = { [weak self] in self?.heard($0, of: .accessPoint) }
  }

  /// The path of gpsd's socket.
  var gpsdSocket: String {
    get { gpsd.path }
    set { gpsd.path = newValue }
  }

  /// The states of all sources, in a fixed order.
  var states: [LocationSourceState] { [gpsd.state, cell.state, accessPoint.state] }

  /// Reports which sources are available, now and after each change. If the service of a source
  /// does not answer within a time limit, reports the source as not available.
  func start() {
    attempt("gpsd") { () throws(SystemError) in
      moveTimer = try loop.timer { [weak self] in self?.reportMove() }
      try gpsd.start()
    }
    attempt("the cells of modems") { () throws(SystemError) in try cell.start() }
    attempt("access points") { () throws(SystemError) in try accessPoint.start() }
  }

  private func attempt(_ what: String, _ body: () throws(SystemError) -> Void) {
    do throws(SystemError) {
      try body()
    } catch {
      log.write(.notice, "the daemon cannot use \(what) as a source of locations: \(error)")
    }
  }

  /// Starts and stops the sources according to the scheduler's needs.
  func need(_ needs: LocationNeeds) {
    gpsd.need(needs.accuracy != nil)
    cell.watch(needs.watchesRadio)
    accessPoint.watch(needs.watchesRadio)
  }

  private func heard(_ occurrence: RadioOccurrence, of source: LocationSource) {
    switch occurrence {
    case .availabilityChanged(let isAvailable):
      post(.sourceChanged(source, isAvailable: isAvailable))
    case .moved:
      moved()
    }
  }

  /// Reports a move. If the last report is less than ``moveInterval`` old, sets a timer that
  /// reports the move later.
  private func moved() {
    let now = BootClock.now()
    let interval = UInt64(Self.moveInterval / .nanoseconds(1))
    if let movedAt, now < movedAt + interval {
      moveTimer?.set(movedAt + interval)
    } else {
      reportMove()
    }
  }

  private func reportMove() {
    moveTimer?.clear()
    movedAt = BootClock.now()
    post(.moved)
  }
}
