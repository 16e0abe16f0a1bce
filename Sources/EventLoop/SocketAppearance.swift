import Glibc
import LinuxSystem

/// A watch that reports, by inotify, when a socket may have appeared at a path or disappeared from
/// it. The directories on the path need not exist yet.
package final class SocketAppearance {
  /// The components of the path, from the socket's name up to the name of the first directory.
  private let names: [String]
  /// The directories of the path, from the socket's directory up to the root.
  private let directories: [String]
  private let loop: EventLoop
  private let report: () -> Void
  private var watch: Watch?

  /// A watch of the deepest directory that exists.
  private final class Watch {
    let inotify: DirectoryWatch
    var source: DescriptorSource?
    /// The name of the awaited entry in the watched directory: the next directory on the path, or
    /// the socket.
    let name: String

    init(_ inotify: consuming DirectoryWatch, name: String) {
      self.inotify = inotify
      self.name = name
    }

    deinit {
      // The source must be removed before its descriptor is closed.
      source = nil
    }
  }

  /// - Parameters:
  ///   - path: an absolute path.
  ///   - report: called from the loop only.
  package init(path: String, loop: EventLoop, report: @escaping () -> Void) {
    let parts = path.split(separator: "/")
    names = parts.reversed().map(String.init)
    directories = parts.indices.reversed().map { "/" + parts[..<$0].joined(separator: "/") }
    self.loop = loop
    self.report = report
  }

  /// Watches the deepest directory that exists, until ``stop()``. Call this function again after
  /// each report: a deeper directory may exist now, or the watched directory may be gone.
  ///
  /// - Throws: EMFILE (also at fs.inotify.max_user_instances), ENFILE, ENOSPC
  ///   (fs.inotify.max_user_watches), and EACCES for a directory.
  package func start() throws(SystemError) {
    let inotify = try DirectoryWatch()
    var level = try watchDeepest(inotify)
    // A deeper directory may have appeared before the watch began.
    while true {
      let next = try watchDeepest(inotify)
      if next == level { break }
      level = next
    }
    let watch = Watch(inotify, name: names[level])
    watch.source = try loop.watch(watch.inotify.descriptor.rawValue, for: .input) {
      [weak self] _ in self?.directoryChanged()
    }
    self.watch = watch
  }

  package func stop() { watch = nil }

  /// Watches the deepest directory that exists, and returns its index in `directories`.
  private func watchDeepest(_ inotify: borrowing DirectoryWatch) throws(SystemError) -> Int {
    for (level, directory) in directories.enumerated() {
      do throws(SystemError) {
        _ = try inotify.add(directory)
        return level
      } catch where error.isMissing && level < directories.count - 1 {
        continue
      }
    }
    return 0
  }

  private func directoryChanged() {
    guard let watch, let changes = try? watch.inotify.takeChanges() else { return }
    // A change without a directory means that the kernel lost events. An end means that the watched
    // directory was removed.
    guard changes.contains(where: { $0.folder == nil || $0.isEnd || $0.name == watch.name }) else {
      return
    }
    report()
  }
}

extension SystemError {
  fileprivate var isMissing: Bool { errno == ENOENT || errno == ENOTDIR }
}
