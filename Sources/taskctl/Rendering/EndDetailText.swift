import TaskSchedulerWire

/// Why an application was ended for memory, or for what it did in the background: sentences for
/// `taskctl why`.
enum EndDetailText {
  static func lines(
    _ explanation: ControlInterface.Explanation, _ context: RenderingContext
  ) -> [String] {
    (explanation.memoryEnd.map { memory($0, context) } ?? [])
      + (explanation.brokenRule.flatMap(rule).map { [$0] } ?? [])
  }

  private static func memory(
    _ end: ControlInterface.MemoryEnd, _ context: RenderingContext
  ) -> [String] {
    let percent = end.total == 0 ? 100 : Int(Double(end.available) / Double(end.total) * 100)
    let began = TimeSpan.text(usec: end.chosenAtUSec - end.pressedSinceUSec)
    let found =
      end.choosingTimeUSec == 0
      ? "It took no time to find out: sizes had been read before."
      : "It took \(TimeSpan.text(usec: end.choosingTimeUSec)) to find out."
    return [
      "When it was chosen, \(context.clock.moment(ofBoot: end.chosenAtUSec)), "
        + "\(bytes(end.available)) of the machine's \(bytes(end.total)) were available "
        + "(\(percent)%); pressure on memory had begun \(began) before.",
      order(end),
      warned(end),
      found,
    ]
  }

  /// Its class, and its place in that.
  private static func order(_ end: ControlInterface.MemoryEnd) -> String {
    let state = end.state == .suspended ? "suspended" : "in the background"
    let size = size(end.dirty, isEstimate: end.estimate)
    let why =
      end.state == .suspended
      ? "suspended ones go first" : "nobody was suspended, and the foreground never goes"
    if end.candidates == 1 {
      return "It was the only one \(state), with \(size) of dirty memory: \(why)."
    }
    let next = end.next.map {
      PrintableText.of($0.application) + " (\(Self.size($0.dirty, isEstimate: $0.estimate)))"
    }.joined(separator: ", ")
    return "Of \(end.candidates) \(state) it had the most dirty memory, \(size): \(why)."
      + (next.isEmpty ? "" : " After it would have come \(next).")
  }

  private static func warned(_ end: ControlInterface.MemoryEnd) -> String {
    guard let warnedAt = end.warnedAtUSec else {
      return end.state == .suspended
        ? "It was not woken to be warned: suspended ones are ended without notice."
        : "It could not be warned: it has no event stream."
    }
    return "It was warned \(TimeSpan.text(usec: end.chosenAtUSec - warnedAt)) before."
  }

  private static func rule(_ rule: ControlInterface.BrokenRule) -> String? {
    if let path = rule.path {
      return "It held a lock on \(PrintableText.of(path)) when all its processes stood still."
    }
    if let used = rule.gpuUSec {
      return "It used GPUs for \(TimeSpan.text(usec: used)) in the background."
    }
    guard let used = rule.processorUSec, let window = rule.withinUSec else { return nil }
    let allowed =
      switch (rule.sharePercent, rule.throttled) {
      case (let percent?, true): ", though it was throttled to \(percent) % of one"
      case (let percent?, _): ": more than \(percent) % of one, and it had been throttled before"
      case (nil, _): ""
      }
    return "It used \(TimeSpan.text(usec: used)) of processors within "
      + "\(TimeSpan.text(usec: window)) in the background\(allowed)."
  }

  private static func size(_ dirty: Int, isEstimate: Bool) -> String {
    (isEstimate ? "about " : "") + bytes(dirty)
  }

  private static func bytes(_ count: Int) -> String { ByteText.of(UInt64(clamping: count)) }
}
