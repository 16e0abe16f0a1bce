import TaskSchedulerCore

extension MemoryChoice {
  /// Why it is this one, for people.
  var sentence: String {
    let order = chosen.state == .suspended ? "suspended ones" : "background ones"
    let rest =
      runnersUp.isEmpty
      ? "the only one"
      : "before " + runnersUp.map { "\($0.application.id.name) (\($0.size.words))" }
        .joined(separator: ", ")
    return "is to end for its memory: \(chosen.size.words) dirty, the most of \(classCount) "
      + "\(order), \(rest); \(memory.percent)% of the machine's memory is available"
  }
}

extension MemorySize {
  /// `120 MiB`, or `about 120 MiB`.
  fileprivate var words: String { (isEstimate ? "about " : "") + "\(dirty >> 20) MiB" }
}

extension MemoryReading {
  /// How much is available, in hundredths; 100 where it is not known.
  var percent: Int {
    total == 0 ? 100 : Int(Double(available) / Double(total) * 100)
  }
}
