/// Verbs of other tools that are neither commands of taskctl nor aliases of one: an alias would
/// promise what the command does not do.
enum ForeignVerbs {
  private static let suspension =
    "the daemon suspends an application when nothing entitles it to run; 'taskctl background APP'"
    + " sends it to the background, and 'taskctl why APP' says what entitles it"
  private static let resumption =
    "the daemon resumes an application for an event, or when it becomes the active one of its seat:"
    + " use 'taskctl foreground APP'"
  private static let answers = [
    "suspend": suspension, "freeze": suspension, "resume": resumption, "thaw": resumption,
    "restart": "use 'taskctl terminate APP', then 'taskctl launch APP'",
  ]

  /// What to say to a command line that begins with this word; nil where it is no such verb.
  static func answer(to word: String) -> String? {
    answers[word].map { "there is no command '\(word)': \($0)" }
  }
}
