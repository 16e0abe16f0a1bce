import LinuxSystem

extension BoundedFileError {
  /// Why a file could not be read, to follow "cannot be read: ".
  ///
  /// - Parameter kind: what it should have been, as in "a journal".
  func words(limitOf kind: String) -> String {
    switch self {
    case .missing(isDangling: false): "there is no such file"
    case .missing(isDangling: true): "a symbolic link stands there and leads nowhere"
    case .notAFile(let what): "\(what) stands there"
    case .tooLarge(let bytesMax): "\(kind) has \(bytesMax) bytes at most"
    case .failed(let error): "\(error)"
    }
  }
}
