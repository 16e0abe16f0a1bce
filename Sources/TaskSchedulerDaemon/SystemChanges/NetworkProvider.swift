import LinuxSystem
import TaskSchedulerCore

/// Tells when the way to the network is another: when there is one or none any more, and when
/// connections that went over the old one break, because its interface, gateway or address changed.
///
/// What the kernel tells is only taken as a sign, and then the tables are read: not every route
/// that goes with an interface is told of, and what was lost (ENOBUFS) need not be known.
final class NetworkProvider: SystemChangeProvider {
  let subject = "the network"
  private let loop: EventLoop
  private let report: SystemChangeReport
  private var sockets: Sockets?
  private var burst: BurstWatch?
  /// How often what holds was read after a burst.
  private(set) var looks = 0
  /// What was told last.
  private var reading = NetworkReading()

  private final class Sockets {
    let watch: FileDescriptor
    let questions: FileDescriptor

    init() throws(SystemError) {
      watch = try RouteSocket.watch()
      questions = try RouteSocket.open()
    }
  }

  init(loop: EventLoop, report: @escaping SystemChangeReport) {
    self.loop = loop
    self.report = report
  }

  func start() throws(SystemError) {
    // Heard first, read then: nothing is between.
    let sockets = try Sockets()
    reading = try RouteSocket.read(sockets.questions.rawValue)
    self.sockets = sockets
    burst = try BurstWatch(
      sockets.watch.rawValue, loop: loop,
      // A failure is told to nobody; the tables say what holds.
      take: { (try? RouteSocket.drain(sockets.watch.rawValue)) ?? true },
      settled: { [weak self] in self?.look() })
  }

  private func look() {
    looks += 1
    // Where it cannot be read now, what comes next brings another look.
    guard let sockets, let present = try? RouteSocket.read(sockets.questions.rawValue),
      present != reading
    else { return }
    reading = present
    report(SystemChange(kind: .network, value: present.isOnline ? "online" : "offline"))
  }
}
