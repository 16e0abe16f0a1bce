import EventLoop
import Glibc
import LinuxSystem

/// A monitor of the windows of the user's session. It finds the compositor or X server, and reports
/// the windows whenever they change.
///
/// The monitor waits for sockets by inotify and never polls. If a compositor or X server ends, or
/// sends a malformed message, the monitor connects to the next one.
package final class FocusMonitor {
  /// An event of the session.
  package enum Occurrence: Equatable {
    /// The windows of the session after a change.
    case windows(SessionWindows)
    /// Nothing is known about the windows any more, because the compositor, X server or window
    /// manager ended. `reason` is nil if the window manager or KWin ended.
    case unknown(reason: SourceEnd?)
    /// The monitor found no compositor or X server of a kind that it knows. It waits for one.
    case absent
  }

  /// The delay after the first failed attempt. It doubles with each further attempt. The monitor
  /// must try again, because inotify reports a socket when a process binds it, slightly before the
  /// process listens. Nothing reports that the process listens.
  private static let firstDelay: Duration = .milliseconds(10)
  /// The number of retries after which the monitor only waits for a new socket.
  private static let attemptsMax = 7
  /// If a connection lasts for at least this time, its end does not count as a failed attempt.
  private static let lastingTime: Duration = .seconds(10)

  private let loop: EventLoop
  private let environment: SessionEnvironment
  private let lookUp: ProcessLookup
  private let report: (Occurrence) -> Void
  private let watch: Watch
  private var watchSource: DescriptorSource?
  private var timer: TimerSource?
  private var source: (any WindowSource)?
  private var kwin: KWinSource?
  /// Whether the last report came from KWin.
  private var isKWins = false
  private var untried: [SessionEnvironment.Candidate] = []
  private var attempts = 0
  private var connectedAt: UInt64 = 0
  private var last: SessionWindows?
  /// Whether the last report was ``Occurrence/absent``.
  private var isAbsent = false

  /// The watch of the directories with sockets. It is a class, so that closures can refer to it.
  private final class Watch {
    let directories: DirectoryWatch
    init() throws(SystemError) { directories = try DirectoryWatch() }
  }

  /// Starts looking for the session's compositor or X server.
  ///
  /// - Parameters:
  ///   - proc: /proc, from which the monitor reads the start times of processes.
  ///   - report: called from the loop for each change, never from within this initializer.
  /// - Throws: EMFILE (also if fs.inotify.max_user_instances is reached), ENFILE, ENOSPC
  ///   (fs.inotify.max_user_watches is reached), and EACCES for a directory of sockets.
  package init(
    loop: EventLoop, environment: SessionEnvironment, proc: ProcFS,
    report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.environment = environment
    self.report = report
    lookUp = { pid in try? proc.identity(pid) }
    watch = try Watch()
    for directory in [environment.runtimeDirectory, environment.xDirectory] {
      guard let directory else { continue }
      do throws(SystemError) {
        _ = try watch.directories.add(directory)
      } catch where error.isMissing {
        // Nothing can listen in a directory that does not exist.
      }
    }
    watchSource = try loop.watch(
      watch.directories.descriptor.rawValue, for: .input
    ) { [weak self] _ in self?.directoryChanged() }
    timer = try loop.timer { [weak self] in self?.look() }
    look()
    // In an X11 session, the X server already reports KWin's windows.
    if let address = environment.busAddress, !environment.isX11 {
      kwin = try KWinSource(address: BusAddress(text: address), loop: loop, lookUp: lookUp) {
        [weak self] in self?.heard($0, isKWins: true)
      }
    }
  }

  deinit {
    // The sources must be removed before their descriptors are closed.
    watchSource = nil
    timer = nil
  }

  // MARK: Looking for a source

  private func directoryChanged() {
    guard let changes = try? watch.directories.takeChanges() else { return }
    // A change without a directory means that the kernel lost events, so any socket may be new.
    let isRelevant = changes.contains {
      $0.folder == nil || environment.isSwaySocket($0.name) || environment.isXSocket($0.name)
    }
    guard isRelevant else { return }
    attempts = 0
    if source == nil { look() }
  }

  private func look() {
    guard source == nil else { return }
    timer?.clear()
    untried = environment.candidates(
      runtimeNames: Self.names(in: environment.runtimeDirectory),
      xNames: Self.names(in: environment.xDirectory))
    connect()
  }

  private static func names(in directory: String?) -> [String] {
    directory.flatMap { try? Directory.names(path: $0) } ?? []
  }

  private func connect() {
    while !untried.isEmpty {
      let candidate = untried.removeFirst()
      connectedAt = BootClock.now()
      if let source = try? start(candidate) {
        self.source = source
        return
      }
    }
    retryLater()
  }

  private func start(
    _ candidate: SessionEnvironment.Candidate
  ) throws(SourceEnd) -> any WindowSource {
    switch candidate {
    case .sway(let path):
      try SwaySource(path: path, display: environment.display, loop: loop, lookUp: lookUp) {
        [weak self] in self?.heard($0)
      }
    case .x(let display):
      try XSource(display: display, loop: loop, lookUp: lookUp) { [weak self] in self?.heard($0) }
    }
  }

  private func retryLater() {
    guard attempts < Self.attemptsMax else { return reportAbsence() }
    let delay = Self.firstDelay * (1 << attempts)
    attempts += 1
    timer?.set(BootClock.now() + UInt64(delay / .nanoseconds(1)))
  }

  // MARK: Reports

  private func reportAbsence() {
    guard last == nil, !isAbsent else { return }
    isAbsent = true
    report(.absent)
  }

  private func heard(_ report: SourceReport, isKWins: Bool = false) {
    switch report {
    case .windows(let windows):
      self.isKWins = isKWins
      guard windows != last else { return }
      last = windows
      isAbsent = false
      self.report(.windows(windows))
    case .unknown: if self.isKWins == isKWins { forget(nil) }
    case .ended(let reason):
      source = nil
      let lifetime = BootClock.now() - connectedAt
      if lifetime >= UInt64(Self.lastingTime / .nanoseconds(1)) { attempts = 0 }
      if !self.isKWins { forget(reason) }
      if untried.isEmpty { retryLater() } else { connect() }
    }
  }

  private func forget(_ reason: SourceEnd?) {
    guard last != nil else { return }
    last = nil
    report(.unknown(reason: reason))
  }
}

extension SystemError {
  fileprivate var isMissing: Bool { errno == ENOENT || errno == ENOTDIR }
}
