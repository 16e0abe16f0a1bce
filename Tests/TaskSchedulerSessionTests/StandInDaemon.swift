import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport

@testable import TaskSchedulerSession

/// A stand-in for a daemon that serves org.taskschedd.Session, on the loop of the test.
final class StandInDaemon {
  static let service = Service(
    vendor: "taskschedd", product: "stand-in", version: "0", url: "",
    interfaces: [SessionInterface.description])

  private let loop: EventLoop
  private let path: String
  private let listener: FileDescriptor
  private var source: DescriptorSource?
  /// The open connections, in the order in which they were accepted.
  private(set) var peers: [StandInPeer] = []
  /// The connection of the agent that attached last.
  private(set) var agent: StandInPeer?
  private(set) var attachments = 0
  /// All calls except Attach, in the order of their arrival.
  private(set) var reports: [ReceivedCall] = []
  /// The bytes of the answer to Attach; nil for the usual answer.
  var answerToAttach: [UInt8]?
  /// The error with which the daemon answers the next report; nil if it accepts the report.
  var refusal: SessionInterface.Failure?
  /// Whether the daemon answers the reports of a method.
  var answers: (_ method: String) -> Bool = { _ in true }

  /// Listens at a path, whose directory must exist.
  init(at path: String, on loop: EventLoop) throws {
    self.loop = loop
    self.path = path
    listener = try UnixSocket.listen(path: path, mode: 0o600)
    source = try loop.watch(listener.rawValue, for: .input) { [weak self] _ in self?.accept() }
  }

  deinit {
    source = nil
    try? UnixSocket.unlink(path: path)
  }

  /// Stops reading, and accepts no connection, as a stopped process does.
  func stop() {
    source = nil
    for peer in peers { peer.stop() }
  }

  /// Reads again after ``stop()``.
  func resume() throws {
    source = try loop.watch(listener.rawValue, for: .input) { [weak self] _ in self?.accept() }
    for peer in peers { try peer.start() }
  }

  /// Sends an order to the attached agent.
  func order(_ order: SessionInterface.Attach.Output) { agent?.reply(order, continues: true) }

  /// The window reports so far. A report that the windows are unknown is nil.
  var windowReports: [SessionInterface.ReportWindows.Input?] {
    reports.compactMap { call in
      switch SessionInterface.MethodName(rawValue: call.method) {
      case .reportWindows: try? call.decode(SessionInterface.ReportWindows.Input.self)
      case .forgetWindows: .some(nil)
      case .attach, .reportAudio, .reportPlayers, .playerCalled, .playerCommanded,
        .reportLocationSource, .reportLocation, .notificationShown, .notificationChosen,
        .notificationClosed, .notificationFailed, nil:
        nil
      }
    }
  }

  /// The audio reports so far.
  var audioReports: [SessionInterface.ReportAudio.Input] {
    reports.lazy.filter { $0.method == SessionInterface.ReportAudio.name }
      .compactMap { try? $0.decode(SessionInterface.ReportAudio.Input.self) }
  }

  /// The names of the players in each player report so far.
  var playerReports: [[String]] {
    reports.filter { $0.method == SessionInterface.ReportPlayers.name }
      .compactMap { try? $0.decode(SessionInterface.ReportPlayers.Input.self) }
      .map { $0.players.map(\.name) }
  }

  /// The reported calls to players so far.
  var playerCalls: [MediaPlayerCall] {
    reports.filter { $0.method == SessionInterface.PlayerCalled.name }
      .compactMap { try? $0.decode(SessionInterface.PlayerCalled.Input.self) }
      .map { MediaPlayerCall(player: $0.player, kind: $0.call) }
  }

  /// The reported commands to the player `taskschedd` so far.
  var playerCommands: [MediaPlayerCommand] {
    reports.filter { $0.method == SessionInterface.PlayerCommanded.name }
      .compactMap { try? $0.decode(SessionInterface.PlayerCommanded.Input.self) }
      .map { MediaPlayerCommand($0.command, offset: $0.offsetUSec.map { Int64($0) }) }
  }

  /// The reports so far about whether GeoClue is available.
  var locationSourceReports: [Bool] {
    reports.filter { $0.method == SessionInterface.ReportLocationSource.name }
      .compactMap { try? $0.decode(SessionInterface.ReportLocationSource.Input.self) }
      .map(\.available)
  }

  /// The reported locations so far.
  var locationReports: [SessionInterface.Location] {
    reports.filter { $0.method == SessionInterface.ReportLocation.name }
      .compactMap { try? $0.decode(SessionInterface.ReportLocation.Input.self) }
      .map(\.location)
  }

  private func accept() {
    guard let socket = (try? UnixSocket.accept(listener.rawValue)) ?? nil else { return }
    let peer = StandInPeer(socket, on: loop) { [weak self] in self?.heard($1, from: $0) }
    peers.append(peer)
    try? peer.start()
  }

  private func heard(_ call: ReceivedCall?, from peer: StandInPeer) {
    guard let call else {
      peers.removeAll { $0 === peer }
      return
    }
    if call.method == SessionInterface.Attach.name {
      attachments += 1
      agent = peer
      if let answerToAttach { return peer.write(answerToAttach) }
      peer.reply(SessionInterface.Attach.Output(attached: attachments), continues: true)
    } else {
      reports.append(call)
      guard answers(call.method) else { return }
      if let refusal {
        self.refusal = nil
        peer.fail(refusal)
      } else {
        peer.reply(NoFields())
      }
    }
  }
}

/// A connection of the stand-in daemon.
final class StandInPeer {
  private let socket: FileDescriptor
  private let loop: EventLoop
  private var source: DescriptorSource?
  private var buffer = MessageBuffer()
  private var connection = ServerConnection(service: StandInDaemon.service)
  /// Receives each call, and nil at the end of the connection.
  private let report: (StandInPeer, ReceivedCall?) -> Void

  init(
    _ socket: consuming FileDescriptor, on loop: EventLoop,
    report: @escaping (StandInPeer, ReceivedCall?) -> Void
  ) {
    self.socket = socket
    self.loop = loop
    self.report = report
  }

  deinit { source = nil }

  func start() throws {
    source = try loop.watch(socket.rawValue, for: .input) { [weak self] _ in self?.read() }
  }

  func stop() { source = nil }

  func hangUp() { try? UnixSocket.shutdown(socket.rawValue) }

  func reply(_ output: some WireValue, continues: Bool = false) {
    var bytes: [UInt8] = []
    connection.reply(output, continues: continues, output: &bytes)
    write(bytes)
  }

  func fail(_ failure: some MethodFailure) {
    var bytes: [UInt8] = []
    connection.fail(failure, output: &bytes)
    write(bytes)
  }

  /// Writes bytes, which must fit into the buffer of the socket.
  func write(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    bytes.withUnsafeBytes { _ = try? UnixSocket.send(socket.rawValue, $0) }
  }

  private func read() {
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = (try? bytes.withUnsafeMutableBytes { try socket.read(into: $0) }) ?? 0
    guard count > 0 else {
      source = nil
      return report(self, nil)
    }
    buffer.append(Array(bytes[..<count]))
    while let message = (try? buffer.next()) ?? nil {
      var output: [UInt8] = []
      let action = connection.receive(message, output: &output)
      write(output)
      if case .call(let call) = action { report(self, call) }
    }
  }
}
