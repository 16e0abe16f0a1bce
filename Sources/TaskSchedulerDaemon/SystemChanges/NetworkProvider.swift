import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A provider that reports when the path to the network appears or disappears. It also reports when
/// existing connections break, because the interface, gateway or address of the path changed.
///
/// A message of the kernel only triggers a reading of the tables. The kernel does not report every
/// removed route, and messages may be lost (ENOBUFS).
final class NetworkProvider: SystemChangeProvider {
  let subject = "the network"
  private let loop: EventLoop
  private let report: SystemChangeReport
  private let inherited: NetworkSockets
  private var sockets: Sockets?
  private var burst: DebouncedWatch?
  /// The number of times that the provider has read the tables after a burst.
  private(set) var readCount = 0
  /// The configuration of the network in the last report, or at the start.
  private var reading = NetworkConfiguration()

  private final class Sockets {
    let watch: FileDescriptor
    let questions: FileDescriptor

    /// Takes the sockets that systemd opened, or opens new ones in the daemon's own network
    /// namespace.
    init(_ inherited: NetworkSockets) throws(SystemError) {
      watch =
        if let changes = inherited.changes { FileDescriptor(taking: changes) } else {
          try RouteSocket.watch()
        }
      questions =
        if let routes = inherited.routes { FileDescriptor(taking: routes) } else {
          try RouteSocket.open()
        }
    }
  }

  /// - Parameter inherited: The sockets that systemd opened for the daemon, if it did so.
  init(
    loop: EventLoop, inherited: NetworkSockets = NetworkSockets(),
    report: @escaping SystemChangeReport
  ) {
    self.loop = loop
    self.inherited = inherited
    self.report = report
  }

  func start() throws(SystemError) {
    // The subscription precedes the reading, so that no change is missed.
    let sockets = try Sockets(inherited)
    reading = try RouteSocket.read(sockets.questions.rawValue)
    self.sockets = sockets
    burst = try DebouncedWatch(
      sockets.watch.rawValue, loop: loop,
      // If the provider cannot read the messages, it reads the tables nevertheless.
      take: { (try? RouteSocket.drain(sockets.watch.rawValue)) ?? true },
      becameQuiet: { [weak self] in self?.read() })
  }

  private func read() {
    readCount += 1
    // If the provider cannot read the tables now, the next message triggers another attempt.
    guard let sockets, let present = try? RouteSocket.read(sockets.questions.rawValue),
      present != reading
    else { return }
    reading = present
    report(SystemChange(kind: .network, value: present.isOnline ? "online" : "offline"))
  }
}
