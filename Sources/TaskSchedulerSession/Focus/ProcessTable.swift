import LinuxSystem

/// The processes of windows. The table looks up the process of a window only once, when it first
/// receives the window's pid. A later lookup could find another process that has reused the pid.
struct ProcessTable<WindowID: Hashable> {
  private var processes: [WindowID: (pid: Int32, process: ProcessIdentity?)] = [:]

  init() {}

  mutating func process(
    of window: WindowID, pid: Int32, _ lookUp: ProcessLookup
  ) -> ProcessIdentity? {
    if let known = processes[window], known.pid == pid { return known.process }
    let process = pid > 0 ? lookUp(pid) : nil
    processes[window] = (pid, process)
    return process
  }

  /// Removes all windows except these.
  mutating func keep(_ windows: [WindowID]) {
    let kept = Set(windows)
    processes = processes.filter { kept.contains($0.key) }
  }
}
