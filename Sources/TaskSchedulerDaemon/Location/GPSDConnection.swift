import EventLoop
import Glibc
import LinuxSystem

/// The reason why a connection to gpsd has ended.
enum GPSDEnd {
  case closed
  case violation(GPSDViolation)
  case failed(SystemError)
}

/// A connection to gpsd on the loop. It never blocks, and limits the bytes that it reads at once
/// and in each second. A gpsd that sends continuously therefore does not delay the daemon's other
/// work.
final class GPSDConnection {
  /// An event of the connection.
  enum Occurrence {
    case report(GPSDReport)
    /// The connection has ended. It reports nothing more.
    case ended(GPSDEnd)
  }

  /// The maximum number of bytes to read at once, before the loop serves its other sources.
  private static let turnBytesMax = 16 << 10
  /// The maximum number of bytes to read in a second. A receiver that reports ten times a second
  /// makes gpsd send about 30 kB a second. Source: this project.
  private static let secondBytesMax = 256 << 10
  private static let second: UInt64 = 1_000_000_000

  private let socket: FileDescriptor
  private let report: (Occurrence) -> Void
  private var source: DescriptorSource?
  private var resumption: TimerSource?
  private var buffer = GPSDReportBuffer()
  /// The start of the second in which ``secondBytes`` counts bytes, in nanoseconds since boot.
  private var secondStart: UInt64 = 0
  private var secondBytes = 0

  /// Connects to the socket at `path`, and asks gpsd for positions.
  ///
  /// - Throws: ENOENT or ECONNREFUSED if no process listens; EAGAIN if the listener's backlog is
  ///   full; EACCES if the daemon has no permission.
  init(
    path: String, loop: EventLoop, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    socket = try UnixSocket.connectAtOnce(path: path)
    self.report = report
    resumption = try loop.timer { [weak self] in self?.source?.wait(for: .input) }
    source = try loop.watch(socket.rawValue, for: .input) { [weak self] _ in self?.read() }
    send(#"?WATCH={"enable":true,"json":true};"#)
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
  }

  /// Asks gpsd not to send positions any more, and stops reading. The socket closes when the owner
  /// releases this object.
  func stop() {
    guard source != nil else { return }
    send(#"?WATCH={"enable":false};"#)
    close()
  }

  /// Sends a request. Requests are few and short, so they always fit into the socket's buffer. If
  /// gpsd has closed the connection, ``read()`` reports the end.
  private func send(_ request: String) {
    var request = request
    _ = request.withUTF8 { bytes in
      try? UnixSocket.send(socket.rawValue, UnsafeRawBufferPointer(bytes))
    }
  }

  private func read() {
    let count = withUnsafeTemporaryAllocation(byteCount: Self.turnBytesMax, alignment: 16) {
      bytes -> Int in
      do throws(SystemError) {
        guard let count = try socket.read(into: bytes) else { return 0 }
        if count == 0 { end(.closed) }
        buffer.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        return count
      } catch {
        end(error.errno == ECONNRESET ? .closed : .failed(error))
        return 0
      }
    }
    do throws(GPSDViolation) {
      while source != nil, let next = try buffer.next() { report(.report(next)) }
    } catch {
      return end(.violation(error))
    }
    pause(after: count)
  }

  /// Pauses reading until the next second if too many bytes have arrived in the present one.
  private func pause(after count: Int) {
    let now = BootClock.now()
    if now >= secondStart + Self.second { (secondStart, secondBytes) = (now, 0) }
    secondBytes += count
    guard secondBytes >= Self.secondBytesMax else { return }
    source?.wait(for: [])
    resumption?.set(secondStart + Self.second)
  }

  private func close() {
    source = nil
    resumption = nil
  }

  private func end(_ reason: GPSDEnd) {
    close()
    report(.ended(reason))
  }
}
