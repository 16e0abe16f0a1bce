import LinuxSystem
import TaskSchedulerWire

// The picture that the application switcher shows.
extension ScheduledApplication {
  /// Sets the snapshot: the picture that the application switcher shows in place of the icon.
  ///
  /// An application usually calls this method in `applicationDidEnterBackground(_:)`, but may call
  /// it at any time. Each call replaces the earlier snapshot. The daemon keeps the picture in
  /// memory. If a manifest says how to launch the application, the daemon keeps the picture even
  /// after the application has ended.
  ///
  /// - Parameters:
  ///   - image: A PNG image of at most 1 MiB. The width and the height are at most 16384 pixels
  ///     each, and the image has at most 33,554,432 pixels in total. nil removes the snapshot.
  ///   - isSensitive: Whether the switcher must show only the icon, because the screen has private
  ///     content. The daemon then keeps no picture.
  /// - Throws: ``ApplicationRefusal/invalidSnapshot(field:reason:)`` if the daemon cannot use the
  ///   image; an error of the connection if the daemon is away for more than 2.3 s. If
  ///   ``isManaged`` is false, the call does nothing.
  public func setSnapshot(
    _ image: [UInt8]?, isSensitive: Bool = false
  ) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.setSnapshotAndWait(image, isSensitive: isSensitive)
    }
  }

  /// Sets the picture that the application switcher shows. Blocks. Otherwise like
  /// ``setSnapshot(_:isSensitive:)``.
  public func setSnapshotAndWait(
    _ image: [UInt8]?, isSensitive: Bool = false
  ) throws(ApplicationError) {
    if calls == nil { return try throwIfEnded() }
    var input = ApplicationInterface.SetSnapshot.Input(sensitive: isSensitive)
    // A sensitive picture does not leave the process.
    guard let image, !isSensitive else {
      _ = try ask(ApplicationInterface.SetSnapshot.self, input)
      return
    }
    let file: FileDescriptor
    do throws(SystemError) {
      file = try MemoryFile.make(named: "snapshot", holding: image)
    } catch {
      throw .connectionFailed("the library cannot pass the snapshot to taskschedd: \(error)")
    }
    input.snapshotFileDescriptor = FileDescriptorIndex(0)
    _ = try ask(
      ApplicationInterface.SetSnapshot.self, input, fileDescriptors: [file.rawValue])
  }
}
