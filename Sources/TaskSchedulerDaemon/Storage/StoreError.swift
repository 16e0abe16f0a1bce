import Glibc
import LinuxSystem

/// The reason why the daemon cannot use a store, with a message for users.
struct StoreError: Error, Hashable, CustomStringConvertible {
  /// The kinds of errors.
  enum Kind: Hashable {
    /// No space is left on the file system.
    case full
    /// The directory or the file is not writable, or does not exist.
    case unwritable
    /// Another process uses the file.
    case inUse
    /// The file is not a valid store. The daemon renames the file at its next start.
    case damaged
    /// A newer version of the daemon wrote the file.
    case newer
    /// Anything else, such as a disk that fails.
    case failed
  }

  let kind: Kind
  let message: String
  var description: String { message }
}

// The parameter `contents` names the contents of the store in the plural, such as `notifications`.
extension StoreError {
  init(_ error: SystemError, _ path: String, contents: String) {
    let isFull = error.errno == ENOSPC || error.errno == EDQUOT
    self.init(
      kind: isFull ? .full : .unwritable,
      message: "\(contents) cannot be kept in \(path): \(error)")
  }

  init(_ error: DatabaseError, _ path: String, contents: String) {
    switch error.kind {
    case .full:
      self.init(
        kind: .full,
        message: "\(contents) cannot be written to \(path): no space is left on the file system")
    case .unwritable:
      self.init(
        kind: .unwritable,
        message: "\(contents) cannot be written to \(path): the daemon needs write access to the "
          + "file and its directory: \(error)")
    case .inUse:
      self.init(
        kind: .inUse,
        message: "another process uses \(path): a second taskschedd, or a program that reads "
          + "the file")
    case .damaged: self = .damaged(path, "\(error)")
    case .unfit, .failed:
      self.init(kind: .failed, message: "\(contents) cannot be kept in \(path): \(error)")
    }
  }

  static func damaged(_ path: String, _ detail: String) -> StoreError {
    StoreError(
      kind: .damaged,
      message: "\(path) is damaged: \(detail); the daemon renames the file at its next start")
  }

  /// - Parameter what: The kind of the file at `place`, such as "a directory".
  static func noFile(
    _ path: String, _ what: String, at place: String, contents: String
  ) -> StoreError {
    StoreError(
      kind: .unwritable,
      message:
        "\(contents) cannot be kept in \(path): \(place) is \(what), and must be a regular "
        + "file or absent; remove it")
  }

  static func newer(_ path: String, contents: String) -> StoreError {
    StoreError(
      kind: .newer,
      message: "\(path) was written by a newer taskschedd, and this one cannot read it: "
        + "install that version again, or move the file away to begin without its \(contents)")
  }

  static func noThread(_ error: SystemError, contents: String) -> StoreError {
    StoreError(
      kind: .failed,
      message: "\(contents) cannot be written: no thread is available: \(error)")
  }
}
