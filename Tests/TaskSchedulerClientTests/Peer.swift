import Glibc
import LinuxSystem
import Synchronization
import TaskSchedulerWire

/// A connection of the stand-in daemon. One thread reads from it, and several threads write to it.
final class Peer: Sendable {
  private let socket: FileDescriptor
  private let connection = Mutex(ServerConnection(service: StandInDaemon.service))
  private let buffer = Mutex(MessageBuffer())
  /// The inodes of the sockets that came with the last message.
  private let inodes = Mutex<[UInt]>([])
  /// The contents of the files in memory that came with the last message.
  private let contents = Mutex<[[UInt8]?]>([])

  init(_ socket: consuming FileDescriptor) {
    self.socket = socket
  }

  /// Returns the next call that `ServerConnection` does not answer itself; nil after the end of the
  /// connection.
  func nextCall() -> ReceivedCall? {
    while let message = nextMessage() {
      var output: [UInt8] = []
      let count = inodes.withLock { $0.count }
      let action = connection.withLock {
        $0.receive(message, fileDescriptorCount: count, output: &output)
      }
      if !output.isEmpty { send(output) }
      switch action {
      case .call(let call): return call
      case .answered: continue
      case .close: return nil
      }
    }
    return nil
  }

  private func nextMessage() -> [UInt8]? {
    while true {
      if let message = try? buffer.withLock({ try $0.next() }) { return message }
      var descriptors = DescriptorBag()
      var bytes = [UInt8](repeating: 0, count: 4096)
      let result = bytes.withUnsafeMutableBytes { all in
        Result { try UnixSocket.receive(socket.rawValue, into: all, descriptors: &descriptors) }
      }
      switch result {
      case .success(.bytes(let count)):
        let read = Array(bytes[..<count])
        buffer.withLock { $0.append(read) }
        let arrived = (0..<descriptors.count).map { inode(of: descriptors.peek($0)!) }
        // These are the sockets of one message only, because a client sends no further message
        // before the answer.
        inodes.withLock { $0 = arrived }
        let files = (0..<descriptors.count).map {
          try? MemoryFile.content(ofReceived: descriptors.peek($0)!, bytesMax: 1 << 20)
        }
        contents.withLock { $0 = files }
      case .success(.wouldBlock):
        _ = try? Readiness.wait(for: Int16(POLLIN), on: socket.rawValue)
      case .success(.closed), .failure: return nil
      }
    }
  }

  /// Returns the inode of the socket with the given index in the last message.
  func arrivedInode(_ index: FileDescriptorIndex) -> UInt { inodes.withLock { $0[index.rawValue] } }

  /// Returns the content of the file in memory with the given index in the last message.
  func arrivedContent(_ index: FileDescriptorIndex) -> [UInt8]? {
    contents.withLock { $0[index.rawValue] }
  }

  func reply(_ output: some WireValue, continues: Bool = false) {
    connection.withLock { connection in
      var bytes: [UInt8] = []
      connection.reply(output, continues: continues, output: &bytes)
      sendAll(bytes)
    }
  }

  func fail(_ failure: some MethodFailure) {
    connection.withLock { connection in
      var bytes: [UInt8] = []
      connection.fail(failure, output: &bytes)
      sendAll(bytes)
    }
  }

  func send(_ bytes: [UInt8]) {
    connection.withLock { _ in sendAll(bytes) }
  }

  func hangUp() {
    try? UnixSocket.shutdown(socket.rawValue, Int(SHUT_RDWR))
  }

  private func sendAll(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { all in
      // The messages fit into the send buffer of the socket, so that one call sends all bytes.
      _ = try? UnixSocket.send(socket.rawValue, all)
    }
  }
}

/// Returns the inode of a descriptor, which identifies a socket.
func inode(of descriptor: Int32) -> UInt {
  var status = stat()
  precondition(fstat(descriptor, &status) == 0, "fstat: \(SystemError.describe(errno))")
  return UInt(status.st_ino)
}

/// Starts a detached thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
  do {
    try DetachedThread.start(body)
  } catch {
    preconditionFailure("\(error)")
  }
}
