/// Hints for command names that users know from other tools, such as `suspend`. These names are not
/// aliases, because no command of taskctl does what they promise.
enum VerbHints {
  private static let suspension =
    "the daemon suspends an application when nothing entitles it to run; 'taskctl background APP' "
    + "sends an application to the background, and 'taskctl why APP' shows what entitles it to run"
  private static let resumption =
    "the daemon resumes an application for an event, or when the application becomes active: use "
    + "'taskctl foreground APP'"
  private static let location =
    "'taskctl location' shows the location and the applications that use it; 'taskctl "
    + "post-location' simulates one"
  private static let answers = [
    "suspend": suspension, "freeze": suspension, "resume": resumption, "thaw": resumption,
    "restart": "use 'taskctl terminate APP', then 'taskctl launch APP'",
    "gps": location, "locate": location, "geolocation": location,
  ]

  /// Returns the hint for a command line that begins with this word; nil for any other word.
  static func answer(to word: String) -> String? {
    answers[word].map { "there is no command '\(word)': \($0)" }
  }
}
