import LinuxSystem

extension BoundedFileError {
  /// Returns the reason why a file could not be read, in words that follow "could not read PATH: ".
  ///
  /// - Parameter kind: The expected kind of file, as in "an event log".
  func words(limitOf kind: String) -> String {
    switch self {
    case .missing(isDangling: false): "no such file"
    case .missing(isDangling: true): "it is a symbolic link to a file that does not exist"
    case .notAFile(let what): "it is \(what)"
    case .tooLarge(let bytesMax): "it is too large; \(kind) has at most \(bytesMax) bytes"
    case .failed(let error): "\(error)"
    }
  }
}
