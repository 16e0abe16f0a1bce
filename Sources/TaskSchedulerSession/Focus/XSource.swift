import EventLoop
import LinuxSystem

/// A source of the windows of an X11 session, under any window manager that follows EWMH: i3,
/// openbox and the desktop environments. i3's own IPC reports less: neither processes nor changes
/// of the layout.
///
/// After events, the source reads the properties of the root window and then those of all windows.
/// This takes two round trips, however many events and windows there are. If an event arrives
/// meanwhile, the source reads everything once more.
///
/// The server itself reports the process of a window (X-Resource). The property _NET_WM_PID is only
/// a claim of the program.
final class XSource: WindowSource {
  /// The maximum number of windows to read. The requests for this number of windows fit into the
  /// socket.
  private static let windowsMax = 512

  private var connection: XConnection?
  private var isReading = false
  private var isStale = false
  private var next = XDesktop()
  /// The window _NET_SUPPORTING_WM_CHECK, which exists while the window manager runs.
  private var check: UInt32?
  /// The windows whose events the source has selected, with their constant properties: the process
  /// and the application's id.
  private var known: [UInt32: XWindow] = [:]
  private var processes = ProcessTable<UInt32>()
  private let lookUp: ProcessLookup
  private let report: (SourceReport) -> Void

  /// Starts connecting to a display.
  init(
    display: String, loop: EventLoop, lookUp: @escaping ProcessLookup,
    report: @escaping (SourceReport) -> Void
  ) throws(SourceEnd) {
    self.lookUp = lookUp
    self.report = report
    do throws(SystemError) {
      connection = try XConnection(display: display, loop: loop) { [weak self] in self?.heard($0) }
    } catch {
      throw .failed(error)
    }
  }

  private func heard(_ occurrence: XConnection.Occurrence) {
    switch occurrence {
    case .ready:
      if let root = connection?.root { connection?.selectEvents(of: root) }
      read()
    case .event(let event): isStale = isStale || concerns(event)
    case .caughtUp: if isStale, !isReading { read() }
    case .ended(let reason): report(.ended(reason))
    }
  }

  private func concerns(_ event: XEvent) -> Bool {
    switch event {
    case .mapping(let window): return known[window] != nil || window == check
    case .property(let window, let atom):
      let names: [XAtom] =
        window == connection?.root
        ? [.activeWindow, .clientList, .currentDesktop, .supportingWMCheck]
        : [.netState, .desktop, .state]
      return names.contains { connection?.atom($0) == atom }
    }
  }

  // MARK: Reading

  /// Reads the root window's properties. Replies arrive in order, so the last reply completes the
  /// reading.
  private func read() {
    guard let connection, let root = connection.root else { return }
    isReading = true
    isStale = false
    next = XDesktop()
    connection.readProperty(.supportingWMCheck, of: root) { [weak self] in
      self?.check = $0?.numbers.first
    }
    connection.readProperty(.currentDesktop, of: root) { [weak self] in
      self?.next.currentDesktop = $0?.numbers.first
    }
    connection.readProperty(.activeWindow, of: root) { [weak self] in
      self?.next.activeWindow = $0?.numbers.first
    }
    connection.readProperty(.clientList, of: root) { [weak self] list in
      guard let self else { return }
      guard let list, let check else { return finish(hasManager: false) }
      readWindows(list.numbers, check: check)
    }
  }

  private func readWindows(_ list: [UInt32], check: UInt32) {
    guard let connection else { return }
    connection.selectEvents(of: check)
    // The active window comes first. The list begins with the oldest window, so the limit
    // `windowsMax` could otherwise exclude the active one.
    let active = list.filter { $0 == next.activeWindow }
    let ids = Set((active + list).prefix(Self.windowsMax))
    known = known.filter { ids.contains($0.key) }
    for id in ids where known[id] == nil { meet(id, connection) }
    for id in ids.sorted() { readState(of: id, connection) }
    // This request comes last, so that its reply arrives after all others. A window manager that
    // was killed leaves its properties behind, but not this window.
    connection.readProperty(.name, of: check) { [weak self] name in
      self?.next.windowManager = name.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
      self?.finish(hasManager: name != nil)
    }
  }

  /// Selects the events of a new window, and reads those properties of the window that never
  /// change. The source selects the events before it reads the window's state, so that it misses no
  /// change.
  private func meet(_ id: UInt32, _ connection: XConnection) {
    known[id] = XWindow(id: id)
    connection.selectEvents(of: id)
    connection.readPID(of: id) { [weak self] in self?.known[id]?.pid = $0 }
    connection.readProperty(.windowClass, of: id) { [weak self] property in
      // The property contains the instance's name and the class, each with a NUL.
      let names = property?.bytes.split(separator: 0, omittingEmptySubsequences: false) ?? []
      guard names.count > 1 else { return }
      self?.known[id]?.applicationID = String(decoding: names[1], as: UTF8.self)
    }
  }

  private func readState(of id: UInt32, _ connection: XConnection) {
    var window = XWindow(id: id)
    let hidden = connection.atom(.netStateHidden)
    connection.readProperty(.netState, of: id) { state in
      window.isHidden = state?.numbers.contains { $0 == hidden } ?? false
    }
    connection.readProperty(.desktop, of: id) { desktop in
      window.desktop = desktop?.numbers.first.flatMap { $0 == XDesktop.allDesktops ? nil : $0 }
    }
    connection.readIsViewable(id) { [weak self] isViewable in
      // nil means that the window is gone. The change of the list of windows then causes another
      // reading.
      guard let self, let isViewable, let known = known[id] else { return }
      window.isViewable = isViewable
      window.pid = known.pid
      window.applicationID = known.applicationID
      next.windows.append(window)
    }
  }

  private func finish(hasManager: Bool) {
    isReading = false
    guard hasManager else { return report(.unknown) }
    processes.keep(next.windows.map(\.id))
    let windows = next.windows.map { window in
      SessionWindow(
        process: window.pid.flatMap { processes.process(of: window.id, pid: $0, lookUp) },
        visibility: next.visibility(of: window), applicationID: window.applicationID)
    }
    report(.windows(SessionWindows(windows)))
  }
}
