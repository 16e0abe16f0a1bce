import TaskSchedulerCore
import TaskSchedulerWire

/// The sentences of `taskctl why` about the end of an application: a termination to free memory, a
/// kill because of a background rule, or a release.
enum EndDetailText {
  static func lines(
    _ explanation: ControlInterface.Explanation, _ context: RenderingContext
  ) -> [String] {
    (explanation.memoryEnd.map { memory($0, context) } ?? [])
      + (explanation.brokenRule.flatMap(rule).map { [$0] } ?? [])
      + (explanation.releaseReason.map { [release($0)] } ?? [])
  }

  private static func release(_ reason: String) -> String {
    "The daemon had adopted it because of its window, and must not suspend it: "
      + PrintableText.of(reason) + "."
  }

  private static func memory(
    _ end: ControlInterface.MemoryEnd, _ context: RenderingContext
  ) -> [String] {
    let percent = end.total == 0 ? 100 : Int(Double(end.available) / Double(end.total) * 100)
    let began = TimeSpan.text(usec: end.chosenAtUSec - end.pressedSinceUSec)
    let found =
      end.choosingTimeUSec == 0
      ? "The daemon chose the application at once, because the memory sizes were already known."
      : "Measuring and choosing took \(TimeSpan.text(usec: end.choosingTimeUSec))."
    return [
      "When the daemon chose it, \(context.clock.moment(ofBoot: end.chosenAtUSec)), "
        + "\(bytes(end.available)) of the machine's \(bytes(end.total)) were available "
        + "(\(percent)%); memory pressure had begun \(began) earlier.",
      order(end),
      warned(end),
      found,
    ]
  }

  /// Returns the sentence that says why the daemon chose this application.
  private static func order(_ end: ControlInterface.MemoryEnd) -> String {
    let size = size(end.dirty, isEstimate: end.estimate)
    let why =
      end.state == .suspended
      ? "suspended applications go first"
      : "no application was suspended, and the foreground is exempt"
    if end.candidates == 1 {
      let only = end.state == .suspended ? "suspended application" : "application in the background"
      return "It was the only \(only), with \(size) of dirty memory: \(why)."
    }
    let next = end.next.map {
      PrintableText.of($0.application) + " (\(Self.size($0.dirty, isEstimate: $0.estimate)))"
    }.joined(separator: ", ")
    let all = end.state == .suspended ? "suspended applications" : "applications in the background"
    return "Of \(end.candidates) \(all), it had the most dirty memory, "
      + "\(size): \(why)."
      + (next.isEmpty ? "" : " Next in order: \(next).")
  }

  private static func warned(_ end: ControlInterface.MemoryEnd) -> String {
    guard let warnedAt = end.warnedAtUSec else {
      return end.state == .suspended
        ? "It received no warning: the daemon kills suspended applications without notice."
        : "It received no warning, because it has no event stream."
    }
    let before = TimeSpan.text(usec: end.chosenAtUSec - warnedAt)
    return "It received a memory warning \(before) before the daemon chose it."
  }

  private static func rule(_ rule: ControlInterface.BrokenRule) -> String? {
    if let path = rule.path {
      return "It held a lock on \(PrintableText.of(path)) when the daemon suspended it."
    }
    if let used = rule.gpuUSec {
      return "It used GPUs for \(TimeSpan.text(usec: used)) in the background."
    }
    guard let used = rule.cpuUSec, let window = rule.withinUSec else { return nil }
    let allowed =
      switch (rule.sharePercent, rule.throttled) {
      case (let percent?, true): ", although the daemon throttled it to \(percent) % of one CPU"
      case (let percent?, _):
        ", more than \(percent) % of one CPU; the daemon had throttled it before and had lifted "
          + "the throttle"
      case (nil, _): ""
      }
    return "It used \(TimeSpan.text(usec: used)) of CPU time within "
      + "\(TimeSpan.text(usec: window)) in the background\(allowed)."
  }

  private static func size(_ dirty: Int, isEstimate: Bool) -> String {
    (isEstimate ? "about " : "") + bytes(dirty)
  }

  private static func bytes(_ count: Int) -> String { ByteText.of(UInt64(clamping: count)) }
}
