import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// One socket in a report of ready sockets.
struct Report: Hashable {
  var instance: InstanceID
  var socket: UInt64
  var conditions: SocketPollEvents
}

/// Managed sockets on a real event loop, and connections of applications.
final class SocketScene {
  /// A connection with one managed end.
  struct Managed {
    let id: InstanceID
    let socket: UInt64
    let application: StreamEnd
    let peer: StreamEnd

    /// Sends a text, and returns when it has arrived.
    func send(_ text: String) throws {
      let before = try UnixSocket.readableCount(application.number)
      try peer.send(text)
      while try UnixSocket.readableCount(application.number) < before + text.utf8.count {}
    }
  }

  let loop: EventLoop
  let directory = TemporaryDirectory()
  private(set) var sockets: ManagedSockets!
  /// The reports since the last call of `reports()`.
  private(set) var inOrder: [[Report]] = []
  var onReport: (SocketScene) -> Void = { _ in }
  private var servers: [StreamKind: StreamServer] = [:]
  private var idle: DeferredSource?
  private var steps: [() throws -> Void] = []
  private var failure: (any Error)?

  init() throws {
    loop = try EventLoop()
    sockets = ManagedSockets(loop: loop) { [unowned self] id, ready in
      inOrder.append(
        ready.map { Report(instance: id, socket: $0.socket, conditions: $0.conditions) })
      onReport(self)
    }
  }

  func pair(_ kind: StreamKind) throws -> (application: StreamEnd, peer: StreamEnd) {
    let server = try servers[kind] ?? StreamServer(kind, in: directory)
    servers[kind] = server
    return try server.pair()
  }

  func manage(_ kind: StreamKind, of id: InstanceID = InstanceID(1)) throws -> Managed {
    let (application, peer) = try pair(kind)
    return try manage(application, peer, of: id)
  }

  func manage(
    _ application: StreamEnd, _ peer: StreamEnd, of id: InstanceID = InstanceID(1)
  ) throws -> Managed {
    let socket = try UnixSocket.cookie(application.number)
    #expect(try sockets.add(application.duplicate(), as: socket, of: id) != nil)
    return Managed(id: id, socket: socket, application: application, peer: peer)
  }

  /// Returns the reports since the last call.
  func reports() -> [[UInt64: SocketPollEvents]] {
    defer { inOrder = [] }
    return inOrder.map { report in
      Dictionary(uniqueKeysWithValues: report.map { ($0.socket, $0.conditions) })
    }
  }

  /// Returns whether the loop would wake immediately if it waited now.
  func loopHasWork() throws -> Bool {
    try Readiness.wait(for: Int16(POLLIN), on: loop.descriptor, timeout: .zero) != 0
  }

  /// Runs the loop and the given steps. Each step runs after the loop has handled all ready events.
  /// Call this function at most once for a scene.
  func run(
    _ first: @escaping () throws -> Void,
    then second: @escaping () throws -> Void = {}, then third: @escaping () throws -> Void = {},
    then fourth: @escaping () throws -> Void = {}, then fifth: @escaping () throws -> Void = {},
    then sixth: @escaping () throws -> Void = {}, then seventh: @escaping () throws -> Void = {}
  ) throws {
    steps = [first, second, third, fourth, fifth, sixth, seventh]
    idle = try loop.whenIdle { [unowned self] in next() }
    idle?.request()
    try loop.run()
    idle = nil
    if let failure { throw failure }
  }

  private func next() {
    guard !steps.isEmpty else { return loop.exit() }
    do {
      try steps.removeFirst()()
      idle?.request()
    } catch {
      failure = error
      loop.exit()
    }
  }
}
