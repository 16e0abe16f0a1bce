import Glibc
import LinuxSystem

/// The file that `--log` names.
final class LogFile {
  private let file: UnsafeMutablePointer<FILE>

  /// Creates the file, or removes its previous contents.
  init(path: String) throws {
    guard let file = fopen(path, "we") else {
      throw Failure(sentence: "--log \(path): \(SystemError.describe(errno))")
    }
    self.file = file
  }

  func write(_ line: String) {
    fputs(line + "\n", file)
  }

  deinit {
    fclose(file)
  }
}
