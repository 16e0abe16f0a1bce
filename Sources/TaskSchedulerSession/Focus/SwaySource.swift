import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// A source of sway's windows, by sway's IPC.
///
/// sway's events do not report everything that changed: a change of the workspace shows and hides
/// windows without an event for each window. After one or more events, the source therefore
/// requests the whole tree. If another event arrives before the tree, the tree already contains the
/// change, and the source does not request the tree again.
///
/// sway sends no event for a change of the layout (`layout tabbed`). The source notices the change
/// at the next event.
final class SwaySource: WindowSource {
  /// The changes of windows that affect only properties other than the visibility and the focus.
  private static let ignoredChanges: Set<String> = ["title", "mark", "urgent"]

  private var connection: SwayConnection?
  private var isSubscribed = false
  private var isTreeRequested = false
  private var isStale = false
  private var tree: [SwayWindow]?
  private var clients: XClients
  private var processes = ProcessTable<Int64>()
  private let lookUp: ProcessLookup
  private let report: (SourceReport) -> Void

  /// Connects to the socket at `path`.
  ///
  /// - Parameter display: the display of Xwayland; if nil, the processes of X11 windows are not
  ///   known. A connection to the display starts Xwayland, so the source makes this connection only
  ///   when there is an X11 window.
  init(
    path: String, display: String?, loop: EventLoop, lookUp: @escaping ProcessLookup,
    report: @escaping (SourceReport) -> Void
  ) throws(SourceEnd) {
    self.lookUp = lookUp
    self.report = report
    clients = XClients(display: display, loop: loop)
    do throws(SystemError) {
      connection = try SwayConnection(path: path, loop: loop) { [weak self] in self?.heard($0) }
    } catch {
      throw .failed(error)
    }
    clients.listen { [weak self] in self?.reportWindows() }
    try connection?.send(.subscribe, "[\"window\",\"workspace\",\"shutdown\"]")
    try requestTree()
  }

  private func requestTree() throws(SourceEnd) {
    try connection?.send(.getTree)
    isTreeRequested = true
    isStale = false
  }

  private func heard(_ occurrence: SwayConnection.Occurrence) {
    do throws(SourceEnd) {
      switch occurrence {
      case .message(let message): try handle(message)
      case .caughtUp: if isStale, !isTreeRequested { try requestTree() }
      case .ended(let reason): throw reason
      }
    } catch {
      connection?.close()
      report(.ended(error))
    }
  }

  private func handle(_ message: SwayMessage) throws(SourceEnd) {
    switch message.type {
    case .subscribe:
      guard !isSubscribed else { throw .sway(.unexpectedReply(.subscribe)) }
      guard message.payload["success"] == true else { throw .sway(.subscriptionRefused) }
      isSubscribed = true
    case .getTree:
      guard isTreeRequested else { throw .sway(.unexpectedReply(.getTree)) }
      isTreeRequested = false
      do throws(SwayTreeError) {
        tree = try SwayTree.windows(message.payload)
      } catch {
        throw .sway(.badTree(error))
      }
      reportWindows()
    case .windowEvent, .workspaceEvent:
      guard let change = message.change else { throw .sway(.eventWithoutChange(message.type)) }
      if !isTreeRequested, !Self.ignoredChanges.contains(change) { isStale = true }
    case .shutdownEvent: throw .closed
    }
  }

  private func reportWindows() {
    guard let tree else { return }
    clients.keep(tree.compactMap(\.client.xWindow))
    processes.keep(tree.map(\.id))
    let windows = tree.map { window in
      let pid: Int32? =
        switch window.client {
        case .wayland(let pid): pid
        case .x(let window): clients.pid(of: window)
        }
      return SessionWindow(
        process: pid.flatMap { processes.process(of: window.id, pid: $0, lookUp) },
        visibility: window.visibility, applicationID: window.applicationID)
    }
    report(.windows(SessionWindows(windows)))
  }
}

extension SwayClient {
  fileprivate var xWindow: UInt32? {
    switch self {
    case .wayland: nil
    case .x(let window): window
    }
  }
}
