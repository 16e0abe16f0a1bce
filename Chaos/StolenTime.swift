import LinuxSystem

/// The CPU time that the hypervisor gave to other guests although this machine needed it (`steal`
/// in proc_stat(5)). If the share of this time is large, the campaign ignores late events, because
/// they prove no defect.
struct StolenTime {
  /// The period before a late event in which stolen CPU time may have delayed the event.
  private static let reach: UInt64 = 8_000_000_000
  /// The share of stolen CPU time above which the campaign ignores late events.
  private static let shareMax = 0.1

  private struct Sample {
    var at: UInt64
    /// Clock ticks, summed over all CPUs.
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

  /// The share of the needed CPU time that was stolen since the start of the campaign.
  var share: Double { share(samples.startIndex) }

  /// Returns whether the share of stolen CPU time before the given time was so large that a late
  /// event proves no defect.
  func explainsDelay(_ moment: UInt64) -> Bool {
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
