// The record of a termination to free memory: its sentence and fields.

extension MemoryChoice {
  var recordDescription: RecordDescription {
    .init(
      .memoryChosen, .predicate(words),
      [
        "dirty": .bytes(chosen.size.dirty), "total": .bytes(chosen.size.total),
        "available": .bytes(memory.available), "choosing": .duration(choosingTime),
      ], isIndispensable: true)
  }

  /// The reason why the scheduler chose this application. Monitors of the application's owner show
  /// the sentence, so it names only applications of that owner.
  private var words: String {
    let order = chosen.state == .suspended ? "suspended" : "background"
    let own = runnersUp.filter { $0.application.owner == chosen.application.owner }
    let rest =
      own.isEmpty
      ? ""
      : ", before "
        + own.map { "\($0.application.id.name) (\($0.size.words))" }
        .joined(separator: ", ")
    let place =
      classCount == 1
      ? "the only \(order) application" : "the most of \(classCount) \(order) applications"
    let time =
      choosingTime == .zero
      ? "the memory sizes were already known"
      : "the choice took \(TimeSpan.short(choosingTime))"
    return "was chosen for termination to free memory: \(chosen.size.words) dirty, "
      + "\(place)\(rest); "
      + "\(memory.percent)% of the machine's memory is available; \(time)"
  }
}

extension MemorySize {
  /// The dirty size: `120 MiB` or, if the size is an estimate, `about 120 MiB`.
  fileprivate var words: String { (isEstimate ? "about " : "") + "\(dirty >> 20) MiB" }
}

extension MemoryReading {
  /// The available memory as a percentage of the machine's memory; 100 if it is unknown.
  fileprivate var percent: Int {
    total == 0 ? 100 : Int(Double(available) / Double(total) * 100)
  }
}
