/// The description of a change for the journal, a monitor or a timeline.
package struct RecordDescription {
  package let kind: Record.Kind
  /// Whether the daemon logs the record even while it limits the rate of records. The value is true
  /// for actions of the daemon whose rate no client controls.
  package let isIndispensable: Bool
  // The text and the fields are closures, because most readers need only one of them. A record that
  // is not logged needs neither.
  private let makeText: () -> RecordText
  private let makeFields: () -> KeyValuePairs<String, RecordValue?>

  /// Creates the description of a record.
  ///
  /// - Parameter fields: The values for programs. Their names are in camel case, without a unit. A
  ///   field with the value nil is omitted.
  init(
    _ kind: Record.Kind, _ text: @escaping @autoclosure () -> RecordText,
    _ fields: @escaping @autoclosure () -> KeyValuePairs<String, RecordValue?> = [:],
    isIndispensable: Bool = false
  ) {
    self.kind = kind
    self.isIndispensable = isIndispensable
    makeText = text
    makeFields = fields
  }

  /// The text without the application's id, for lines that begin with the id.
  package var text: String {
    switch makeText() {
    case .predicate(let text), .clause(let text): text
    }
  }

  /// Returns one sentence, which begins with the application's id.
  package func sentence(about application: ApplicationID) -> String {
    switch makeText() {
    case .predicate(let text): "\(application.name) \(text)"
    case .clause(let text): "\(application.name): \(text)"
    }
  }

  /// The values for programs. A name ends with the unit of its value, if the value has one:
  /// `remainingUSec`, `dirtyBytes`.
  package var fields: [(name: String, value: RecordValue)] {
    makeFields().compactMap { name, value in value.map { (name + $0.unit, $0) } }
  }
}

/// The text of a record, without the application's id.
enum RecordText {
  /// Follows the application's id: `opened its event stream`.
  case predicate(String)
  /// Has a subject of its own: `notification 3 fires`.
  case clause(String)
}

/// A value of a record.
package enum RecordValue: Equatable, Sendable {
  case text(String)
  case texts([String])
  case number(UInt64)
  case duration(Duration)
  case bytes(UInt64)

  fileprivate var unit: String {
    switch self {
    case .text, .texts, .number: ""
    case .duration: "USec"
    case .bytes: "Bytes"
    }
  }

  /// The value as texts: one for each element of a list, otherwise a single text.
  package var texts: [String] {
    switch self {
    case .text(let text): [text]
    case .texts(let texts): texts
    case .number(let number), .bytes(let number): ["\(number)"]
    case .duration(let duration): ["\(duration.microseconds)"]
    }
  }
}

/// The importance of a record, as in syslog(3).
public enum LogLevel: String, CaseIterable, Equatable, Sendable {
  case error, warning, notice, info, debug
}
