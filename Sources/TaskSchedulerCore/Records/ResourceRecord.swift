// The records of the background rules: their sentences, fields and levels.

extension ListeningReport {
  /// The report as a predicate that follows the application's name.
  fileprivate var words: String {
    var words: [String] = []
    if count > 0 {
      let rest = count > addresses.count ? " and \(count - addresses.count) more addresses" : ""
      words.append("listens on \(addresses.joined(separator: ", "))\(rest) while it is suspended")
    }
    if !isComplete {
      words.append(
        "has descriptors that the daemon did not examine, so the daemon may have missed listening "
          + "sockets and locks on shared files")
    }
    return words.joined(separator: "; ")
  }
}

extension ResourceRecord {
  /// The level of the record.
  var level: LogLevel {
    switch self {
    case .usedProcessor, .usedGPU, .heldResource: .warning
    case .throttled, .listens: .notice
    }
  }

  var recordDescription: RecordDescription {
    switch self {
    case .usedProcessor(let used, let window):
      .ruleBroken(
        "used \(TimeSpan.short(used)) of CPU time within \(TimeSpan.short(window)) "
          + "in the background")
    case .usedGPU(let used):
      .ruleBroken("used a GPU for \(TimeSpan.short(used)) in the background")
    case .heldResource(let path):
      .ruleBroken("held a lock on \(PrintableText.quoted(path)) when it was suspended", path: path)
    case .throttled(let percent):
      .init(
        .throttled,
        .predicate(
          percent.map { "is throttled to \($0) % of one CPU" } ?? "is no longer throttled"),
        isIndispensable: true)
    // The log may omit this record: an application can cause any number of these records, by
    // listening on new sockets.
    case .listens(let listening):
      .init(
        .listening, .predicate(listening.words), ["address": .texts(listening.addresses)])
    }
  }
}

extension RecordDescription {
  fileprivate static func ruleBroken(
    _ text: @escaping @autoclosure () -> String, path: String? = nil
  ) -> Self {
    .init(
      .ruleBroken, .predicate(text()), ["path": path.map { .text($0) }],
      isIndispensable: true)
  }
}
