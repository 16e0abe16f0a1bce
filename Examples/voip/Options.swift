/// The options of the command line.
struct Options {
  struct PhoneOptions {
    var name: String
    var id = "org.example.voip"
    var keepAliveSeconds = 600
  }

  enum Role {
    case server
    case phone(PhoneOptions)
    case call(String, from: String)
  }

  let role: Role
  /// A port of this machine. With 0, a server selects a free one.
  let port: UInt16

  static let usage = """
    usage: voip-example server PORT
           voip-example phone PORT NAME [--keep-alive SECONDS] [--id ID]
           voip-example call PORT NAME CALLER
      server  connect calls on that port of this machine; 0 selects a free one and prints it
      phone   be reachable as NAME on that port, even while suspended
      call    call NAME as CALLER, wait for the answer, and hang up
    """

  /// Parses the arguments. Returns nil if they do not match the usage.
  init?(_ arguments: [String]) {
    guard arguments.count >= 2, let port = UInt16(arguments[1]) else { return nil }
    self.port = port
    var rest = arguments.dropFirst(2)
    switch arguments[0] {
    case "server": role = .server
    case "call":
      guard let name = rest.popFirst(), let caller = rest.popFirst() else { return nil }
      role = .call(name, from: caller)
    case "phone":
      guard let name = rest.popFirst() else { return nil }
      var phone = PhoneOptions(name: name)
      while let option = rest.popFirst() {
        guard let value = rest.popFirst() else { return nil }
        switch option {
        case "--keep-alive":
          guard let seconds = Int(value), seconds > 0 else { return nil }
          phone.keepAliveSeconds = seconds
        case "--id": phone.id = value
        default: return nil
        }
      }
      role = .phone(phone)
    default: return nil
    }
    guard rest.isEmpty else { return nil }
  }
}
