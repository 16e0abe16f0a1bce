import LinuxSystem

/// The CPU time that this machine wanted and others took: what a hypervisor gives to its other
/// guests (`steal` in proc_stat(5)). Where it was much, what came late was not the daemon's doing,
/// nor that of a client that did not get to end a task in time.
struct StolenTime {
  /// How far back a cause may lie of what is found: a limit, and a callback's time before it.
  private static let reach: UInt64 = 8_000_000_000
  /// The share from which nothing can be said about time.
  private static let shareMax = 0.1

  private struct Sample {
    var at: UInt64
    /// Clock ticks of all CPUs.
    var stolen: UInt64
    var used: UInt64
  }
  private var samples: [Sample] = []

  mutating func sample() {
    guard let line = Files.text("/proc/stat")?.prefix(while: { $0 != "\n" }) else { return }
    // user, nice, system, idle, iowait, irq, softirq, steal
    let ticks = line.split(separator: " ").dropFirst().compactMap { UInt64($0) }
    guard ticks.count >= 8 else { return }
    samples.append(
      Sample(
        at: BootClock.now(), stolen: ticks[7],
        used: ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]))
  }

  /// The share of what was wanted that was taken, from the beginning on.
  var share: Double { share(samples.startIndex) }

  /// Whether so much was taken before a moment just past that what was late then proves nothing.
  func excuses(_ moment: UInt64) -> Bool {
    let first = samples.lastIndex { $0.at + Self.reach < moment } ?? samples.startIndex
    return share(first) > Self.shareMax
  }

  private func share(_ first: Int) -> Double {
    guard let from = samples[first...].first, let until = samples.last else { return 0 }
    let stolen = Double(until.stolen - from.stolen)
    let wanted = stolen + Double(until.used - from.used)
    return wanted > 0 ? stolen / wanted : 0
  }
}
