import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire

/// The reason why a connection to a daemon ended, or could not be made.
package enum ConnectionEnd: Error, Hashable, Sendable, CustomStringConvertible {
  /// The daemon closed the connection.
  case closed
  /// The connection failed, or could not be made.
  case failed(SystemError)
  /// The daemon sent a message that the protocol does not allow.
  case malformed(ProtocolViolation)
  /// The daemon sent an order that org.taskschedd.Session does not declare.
  case unknownOrder(ParameterError)
  /// The daemon refused a call with this error.
  case refused(error: String)

  package var description: String {
    switch self {
    case .closed: "the daemon closed the connection"
    case .failed(let error): error.description
    case .malformed(let violation): "the daemon sent a malformed message: \(violation)"
    case .unknownOrder(let error): "the daemon sent an unknown order: \(error)"
    case .refused(let error): "the daemon refused a call: \(error)"
    }
  }
}

/// A connection to a Varlink service. The connection never blocks the loop.
final class ServiceConnection {
  /// An event of the connection.
  enum Occurrence {
    case answer(ClientConnection.Answer)
    /// The connection has ended. It reports nothing more.
    case ended(ConnectionEnd)
  }

  /// The maximum number of bytes to read at once. The loop then serves its other sources.
  private static let readBytesMax = 64 << 10

  private let socket: FileDescriptor
  private var source: DescriptorSource?
  private var peer = ClientConnection()
  private var input = MessageBuffer()
  /// The bytes that the socket has not taken yet.
  private var output: ArraySlice<UInt8> = []
  private let report: (Occurrence) -> Void

  /// Connects to the socket at `path`.
  ///
  /// - Parameter report: called from the loop only.
  /// - Throws: ENOENT and ECONNREFUSED if no service listens; EAGAIN if the service does not accept
  ///   connections.
  init(
    path: String, loop: EventLoop, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    socket = try UnixSocket.connectAtOnce(path: path)
    self.report = report
    source = try loop.watch(socket.rawValue, for: .input) { [weak self] in self?.isReady($0) }
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
  }

  /// The number of calls that wait for their last reply.
  var waitingCount: Int { peer.waitingCount }

  /// Calls a method. If the socket is full, the connection sends the rest when the service reads.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, more: Bool = false
  ) throws(ConnectionEnd) {
    var bytes: [UInt8] = []
    peer.call(method, input, more: more, output: &bytes)
    output += bytes
    try flush()
  }

  /// Stops reading and writing.
  func close() { source = nil }

  private func isReady(_ readiness: PollEvents) {
    do throws(ConnectionEnd) {
      if readiness.contains(.output) { try flush() }
      if readiness != .output { try read() }
    } catch {
      guard source != nil else { return }
      close()
      report(.ended(error))
    }
  }

  private func flush() throws(ConnectionEnd) {
    while !output.isEmpty {
      let result = output.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in try UnixSocket.send(socket.rawValue, bytes) }
      }
      switch result {
      case .success(.bytes(let count)): output.removeFirst(count)
      case .success(.wouldBlock):
        source?.wait(for: [.input, .output])
        return
      // Do not report the closed connection here: `read` reports it after all replies.
      case .success(.closed): output = []
      case .failure(let error): throw .failed(error)
      }
    }
    // Releases the memory of a long message.
    output = []
    source?.wait(for: .input)
  }

  private func read() throws(ConnectionEnd) {
    let result = withUnsafeTemporaryAllocation(byteCount: Self.readBytesMax, alignment: 16) {
      bytes in
      Result { () throws(SystemError) -> Bool in
        guard let count = try socket.read(into: bytes) else { return true }
        input.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        return count > 0
      }
    }
    switch result {
    case .success(true): break
    case .success(false): throw .closed
    case .failure(let error): throw error.errno == ECONNRESET ? .closed : .failed(error)
    }
    do throws(ProtocolViolation) {
      while source != nil, let message = try input.next() {
        report(.answer(try peer.receive(message)))
      }
    } catch {
      throw .malformed(error)
    }
  }
}
