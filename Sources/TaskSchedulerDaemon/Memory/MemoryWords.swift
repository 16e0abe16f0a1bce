import TaskSchedulerCore

extension MemoryChoice {
  /// Why this application was chosen. Monitors of its owner show the sentence, so that it names
  /// applications of that owner only.
  var sentence: String {
    let order = chosen.state == .suspended ? "suspended" : "background"
    let own = runnersUp.filter { $0.application.owner == chosen.application.owner }
    let rest =
      own.isEmpty
      ? ""
      : ", before " + own.map { "\($0.application.id.name) (\($0.size.words))" }
        .joined(separator: ", ")
    let place =
      classCount == 1
      ? "the only \(order) application" : "the most of \(classCount) \(order) applications"
    let time =
      choosingTime == .zero
      ? "already measured"
      : "chosen within \(TimeSpan.format(choosingTime.roundedToMilliseconds))"
    return "was chosen for termination to free memory: \(chosen.size.words) dirty, "
      + "\(place)\(rest); "
      + "\(memory.percent)% of the machine's memory is available; \(time)"
  }
}

extension MemorySize {
  /// The dirty size: `120 MiB`, or `about 120 MiB`.
  fileprivate var words: String { (isEstimate ? "about " : "") + "\(dirty >> 20) MiB" }
}

extension MemoryReading {
  /// The available memory in percent; 100 if it is unknown.
  var percent: Int {
    total == 0 ? 100 : Int(Double(available) / Double(total) * 100)
  }
}
