import EventLoop
import Glibc
import LinuxSystem

/// A connection to sway's socket. The connection never blocks the loop.
final class SwayConnection {
  /// An event of the connection.
  enum Occurrence {
    case message(SwayMessage)
    /// The connection has handled all complete messages that it has read.
    case caughtUp
    /// The connection has ended. It reports nothing more.
    case ended(SourceEnd)
  }

  /// The maximum number of bytes to read at once. The loop then serves its other sources.
  private static let readBytesMax = 256 << 10

  private let socket: FileDescriptor
  private var source: DescriptorSource?
  private var buffer = SwayMessageBuffer()
  private let report: (Occurrence) -> Void

  /// Connects to sway's socket.
  ///
  /// - Throws: ENOENT and ECONNREFUSED if sway does not listen; EAGAIN if sway does not accept
  ///   connections.
  init(
    path: String, loop: EventLoop, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    socket = try UnixSocket.connectAtOnce(path: path)
    self.report = report
    source = try loop.watch(socket.rawValue, for: .input) { [weak self] _ in self?.read() }
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
  }

  /// Sends a request. Requests are few and short. If one does not fit into the socket, sway has
  /// stopped reading, and the connection fails.
  func send(_ type: SwayMessageType, _ payload: String = "") throws(SourceEnd) {
    let message = SwayMessageBuffer.request(type, payload)
    let result = message.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try UnixSocket.send(socket.rawValue, bytes) }
    }
    switch result {
    case .success(.bytes(message.count)): return
    case .success(.bytes), .success(.wouldBlock): throw .sway(.notReading)
    case .success(.closed): throw .closed
    case .failure(let error): throw .failed(error)
    }
  }

  private func read() {
    let isOpen = withUnsafeTemporaryAllocation(byteCount: Self.readBytesMax, alignment: 16) {
      bytes in
      do throws(SystemError) {
        guard let count = try socket.read(into: bytes) else { return true }
        guard count > 0 else {
          end(.closed)
          return false
        }
        buffer.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        return true
      } catch {
        end(error.errno == ECONNRESET ? .closed : .failed(error))
        return false
      }
    }
    guard isOpen else { return }
    do throws(SwayViolation) {
      while source != nil, let message = try buffer.next() { report(.message(message)) }
    } catch {
      return end(.sway(error))
    }
    if source != nil { report(.caughtUp) }
  }

  /// Stops reading.
  func close() { source = nil }

  private func end(_ reason: SourceEnd) {
    close()
    report(.ended(reason))
  }
}
