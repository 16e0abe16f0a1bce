import LinuxSystem
import TaskSchedulerCore

/// The pictures of the application switcher (contract §19). Each picture is a sealed memfd, which
/// systemd's descriptor store keeps for the next daemon. The event log contains only the ids of the
/// pictures.
///
/// The daemon copies the bytes, so that the application cannot change them later.
final class SnapshotPictures {
  private let store: DescriptorStore
  private var pictures: [SnapshotID: Picture] = [:]

  init(store: DescriptorStore) {
    self.store = store
  }

  /// Returns the content of a descriptor that an application has passed. Never blocks.
  ///
  /// - Throws: The reason why the daemon cannot use the picture. Its description continues a
  ///   sentence that begins with "it is".
  static func content(of descriptor: borrowing FileDescriptor) throws(SnapshotRefusal) -> [UInt8] {
    let bytes: [UInt8]
    do throws(MemoryFileRefusal) {
      bytes = try MemoryFile.content(
        ofReceived: descriptor.rawValue, bytesMax: PNGImage.bytesMax)
    } catch {
      throw .file(error)
    }
    do throws(PNGProblem) {
      _ = try PNGImage(bytes)
    } catch {
      throw .image(error)
    }
    return bytes
  }

  /// Keeps a picture, and stores it for the next daemon.
  func keep(_ bytes: [UInt8], as id: SnapshotID) throws(SystemError) {
    let file = try MemoryFile.makeSealed(named: "taskschedd-snapshot", holding: bytes)
    store.save(picture: id, file: file.rawValue)
    pictures[id] = Picture(file)
  }

  /// Continues with a picture of the previous daemon.
  func restore(_ file: consuming FileDescriptor, as id: SnapshotID) {
    pictures[id] = Picture(file)
  }

  /// Deletes a picture, if it exists.
  func drop(_ id: SnapshotID) {
    if pictures.removeValue(forKey: id) != nil { store.remove(picture: id) }
  }

  /// Opens a picture for reading. Returns the new descriptor and the properties of the picture; nil
  /// if there is no such picture.
  func open(_ id: SnapshotID) throws -> OpenPicture? {
    guard let picture = pictures[id] else { return nil }
    let number = picture.file.rawValue
    let header = try MemoryFile.beginning(of: number, count: PNGImage.headerBytesCount)
    return OpenPicture(
      file: try MemoryFile.reopen(number), bytesCount: try MemoryFile.size(of: number),
      image: try PNGImage(header: header))
  }
}

/// A picture that the daemon passes to a client.
struct OpenPicture: ~Copyable {
  let file: FileDescriptor
  let bytesCount: Int
  let image: PNGImage
}

/// The reason why the daemon cannot use a picture that an application has passed. The description
/// continues a sentence that begins with "it is".
enum SnapshotRefusal: Error, CustomStringConvertible {
  case file(MemoryFileRefusal)
  case image(PNGProblem)

  var description: String {
    switch self {
    case .file(let refusal): refusal.description
    case .image(let problem): problem.description
    }
  }
}

/// A picture, as the sealed memfd that contains it.
private final class Picture {
  let file: FileDescriptor

  init(_ file: consuming FileDescriptor) {
    self.file = file
  }
}
