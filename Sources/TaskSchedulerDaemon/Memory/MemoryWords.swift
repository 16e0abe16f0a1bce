import TaskSchedulerCore

extension MemoryChoice {
  /// Why it is this one, for people. Its owner's monitors show it: nobody else's are named.
  var sentence: String {
    let order = chosen.state == .suspended ? "suspended" : "background"
    let own = runnersUp.filter { $0.application.owner == chosen.application.owner }
    let rest =
      own.isEmpty
      ? ""
      : ", before " + own.map { "\($0.application.id.name) (\($0.size.words))" }
        .joined(separator: ", ")
    let place =
      classCount == 1 ? "the only \(order) one" : "the most of \(classCount) \(order) ones"
    let time =
      choosingTime == .zero
      ? "measured before"
      : "chosen within \(TimeSpan.format(choosingTime.roundedToMilliseconds))"
    return "is to end for its memory: \(chosen.size.words) dirty, \(place)\(rest); "
      + "\(memory.percent)% of the machine's memory is available; \(time)"
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
