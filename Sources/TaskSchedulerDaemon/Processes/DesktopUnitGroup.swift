import LinuxSystem

// Desktops start each program in a systemd unit of its own, `app-*.scope` or `app-*.service`
// (systemd.io/DESKTOP_ENVIRONMENTS). If the daemon adopts a program because of its window, the
// control group of the program's unit becomes the instance's own group.

extension ControlGroup {
  /// Returns the group of the unit `app-*.scope` or `app-*.service` that a process is in; nil if
  /// the process is in no such unit.
  static func desktopUnit(
    of pid: Int32, in proc: ProcFS
  ) throws(SystemError) -> ControlGroup? {
    var path = try ControlGroup.of(pid, in: proc)?.path[...] ?? ""
    while let slash = path.lastIndex(of: "/") {
      let name = path[path.index(after: slash)...]
      if name.hasPrefix("app-"), name.hasSuffix(".scope") || name.hasSuffix(".service") {
        return ControlGroup(path: String(path))
      }
      path = path[..<slash]
    }
    return nil
  }

  /// Returns the highest ancestor of `process` that is in this group; `process` itself if none is.
  func top(
    of process: ProcessIdentity, in proc: ProcFS
  ) throws(SystemError) -> ProcessIdentity {
    var top = process
    for ancestor in try proc.ancestors(process.pid) {
      guard let group = try ControlGroup.of(ancestor.pid, in: proc)?.path,
        group == path || group.hasPrefix(path + "/")
      else { break }
      top = ancestor
    }
    return top
  }
}
