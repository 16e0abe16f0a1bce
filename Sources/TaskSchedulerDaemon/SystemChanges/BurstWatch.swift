import LinuxSystem

/// Watches a descriptor whose messages come in bursts, and calls once for each burst.
///
/// One thing that happens to a machine is many messages: a cable that is plugged in brings a
/// carrier, an address and routes within some tens of milliseconds; `dpkg-reconfigure tzdata`
/// writes two files; `ln -sf` removes before it makes. Who is called at the first of them would see
/// what is half done, and be woken for each. So the burst is over when nothing has come for
/// ``quiet``: longer than the pauses in it, and shorter than a person calls late.
final class BurstWatch {
  static let quiet: Duration = .milliseconds(250)
  /// A burst that does not end is cut: what is known by then is told.
  static let lengthMax: Duration = .seconds(2)

  private let take: () -> Bool
  private let settled: () -> Void
  private var source: DescriptorSource?
  private var timer: TimerSource?
  /// While there is a burst, when it is cut.
  private var limit: UInt64?

  /// - Parameters:
  ///   - descriptor: stays open for as long as this is kept.
  ///   - take: takes the messages that are there, and says whether any matters.
  ///   - settled: called after a burst; what happens from then on begins another.
  init(
    _ descriptor: Int32, loop: EventLoop, take: @escaping () -> Bool,
    settled: @escaping () -> Void
  ) throws(SystemError) {
    self.take = take
    self.settled = settled
    timer = try loop.timer { [weak self] in self?.look() }
    source = try loop.watch(descriptor, for: .input) { [weak self] _ in self?.heard() }
  }

  private func heard() {
    let matters = take()
    // During a burst only errors are heard (a netlink socket that has no more room).
    guard limit == nil, matters else { return }
    limit = BootClock.after(Self.lengthMax)
    source?.wait(for: [])
    timer?.set(BootClock.after(Self.quiet))
  }

  private func look() {
    guard let limit else { return }
    if take(), BootClock.now() < limit {
      timer?.set(BootClock.after(Self.quiet))
      return
    }
    self.limit = nil
    source?.wait(for: .input)
    settled()
  }
}
