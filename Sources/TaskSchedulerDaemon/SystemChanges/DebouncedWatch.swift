import EventLoop
import LinuxSystem

/// A watch on a descriptor whose messages come in bursts. It calls its handler once for each burst.
///
/// A single change of a machine causes many messages. Plugging in a cable brings a carrier, an
/// address and routes within tens of milliseconds; `dpkg-reconfigure tzdata` writes two files. If
/// the handler ran at the first message, it would see an intermediate state, and each message would
/// wake applications. A burst ends when no message has come for ``quiet``, which is longer than the
/// pauses within a burst.
final class DebouncedWatch {
  static let quiet: Duration = .milliseconds(250)
  /// The longest duration of a burst. After this duration, the watch calls its handler even if
  /// further messages arrive.
  static let lengthMax: Duration = .seconds(2)

  private let take: () -> Bool
  private let becameQuiet: () -> Void
  private var source: DescriptorSource?
  private var timer: TimerSource?
  /// The deadline of the current burst (see ``lengthMax``), in nanoseconds since boot; nil between
  /// bursts.
  private var limit: UInt64?

  /// - Parameters:
  ///   - descriptor: The descriptor, which must stay open for the lifetime of the watch.
  ///   - take: Reads the pending messages and returns whether any is relevant.
  ///   - becameQuiet: Called after a burst. Later messages begin another burst.
  init(
    _ descriptor: Int32, loop: EventLoop, take: @escaping () -> Bool,
    becameQuiet: @escaping () -> Void
  ) throws(SystemError) {
    self.take = take
    self.becameQuiet = becameQuiet
    timer = try loop.timer { [weak self] in self?.read() }
    source = try loop.watch(descriptor, for: .input) { [weak self] _ in self?.received() }
  }

  private func received() {
    let matters = take()
    // During a burst, the loop reports only errors, such as a full buffer of a netlink socket.
    guard limit == nil, matters else { return }
    limit = BootClock.after(Self.lengthMax)
    source?.wait(for: [])
    timer?.set(BootClock.after(Self.quiet))
  }

  private func read() {
    guard let limit else { return }
    if take(), BootClock.now() < limit {
      timer?.set(BootClock.after(Self.quiet))
      return
    }
    self.limit = nil
    source?.wait(for: .input)
    becameQuiet()
  }
}
