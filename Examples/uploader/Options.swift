/// The options of the command line.
struct Options {
  enum Destination {
    case file(String)
    /// A port of this machine.
    case port(UInt16)
  }

  var id = "org.example.uploader"
  var chunks = 100
  var stubborn = false
  var destination = Destination.file("")

  static let usage = """
    usage: uploader-example [--stubborn] [--chunks N] [--id ID] (FILE | tcp:PORT)
      --stubborn  ignore the expiration and never end the background task
      --chunks N  upload N chunks, five a second (100)
      --id ID     the id of the application (org.example.uploader)
      tcp:PORT    upload to a port of this machine instead of a file
    """

  /// Parses the arguments. Returns nil if they do not match the usage.
  init?(_ arguments: [String]) {
    var destination: Destination?
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--stubborn": stubborn = true
      case "--chunks":
        guard let chunks = rest.popFirst().flatMap(Int.init), chunks > 0 else { return nil }
        self.chunks = chunks
      case "--id":
        guard let id = rest.popFirst() else { return nil }
        self.id = id
      default:
        guard destination == nil, !argument.hasPrefix("-") else { return nil }
        if argument.hasPrefix("tcp:") {
          guard let port = UInt16(argument.dropFirst(4)) else { return nil }
          destination = .port(port)
        } else {
          destination = .file(argument)
        }
      }
    }
    guard let destination else { return nil }
    self.destination = destination
  }
}
