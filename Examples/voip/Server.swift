import Glibc

/// The server, which connects callers and phones.
final class Server {
  private let listener: Int32
  private var lines: [Line] = []
  private var phones: [String: Line] = [:]
  private var callers: [String: (line: Line, phone: String)] = [:]

  init(port: UInt16) {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var one: Int32 = 1
    setsockopt(
      listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    guard withAddress(port, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
      fail("port \(port) cannot be served: \(problem())")
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(listener, $0, &length)
      }
    }
    say("serving port \(UInt16(bigEndian: address.sin_port))")
  }

  func run() -> Never {
    while true {
      var entries = ([listener] + lines.map(\.number)).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else {
        fail("poll: \(problem())")
      }
      for line in lines {
        for words in line.takeLines() { handle(words, from: line) }
        if line.isClosed { remove(line) }
      }
      if entries[0].revents != 0 {
        let number = accept(listener, nil, nil)
        if number >= 0 { lines.append(Line(taking: number)) }
      }
    }
  }

  private func handle(_ words: [String], from line: Line) {
    let names = Array(words.dropFirst())
    switch (words.first, names.count) {
    case ("REGISTER", 1):
      phones[names[0]] = line
      say("\(names[0]) can be called")
    case ("CALL", 2):
      callers[names[1]] = (line, names[0])
      say("\(names[1]) calls \(names[0])")
      if let phone = phones[names[0]] {
        phone.send("INVITE \(names[1])")
      } else {
        line.send("GONE \(names[0])")
      }
    case ("ANSWER", 1):
      say("\(names[0])'s call is answered")
      callers[names[0]]?.line.send("ANSWER \(names[0])")
    case ("BYE", 1): say("\(names[0])'s call has ended")
    case ("PING", 0):
      say("PING from \(phones.first { $0.value === line }?.key ?? "an unknown phone")")
      line.send("PONG")
    default: say("unknown command: \(words.joined(separator: " "))")
    }
  }

  private func remove(_ line: Line) {
    lines.removeAll { $0 === line }
    for (name, phone) in phones where phone === line {
      phones[name] = nil
      say("\(name) is gone")
    }
    for (name, caller) in callers where caller.line === line {
      callers[name] = nil
      phones[caller.phone]?.send("BYE \(name)")
    }
  }
}

/// Calls a phone, and ends the program when the phone answers.
func call(_ name: String, as caller: String, port: UInt16) -> Never {
  guard let line = Line.connect(port: port) else { fail("no server listens on port \(port)") }
  let start = ContinuousClock.now
  line.send("CALL \(name) \(caller)")
  let limit: Int32 = 30_000
  while line.wait(milliseconds: limit) {
    for words in line.takeLines() {
      if words.first == "GONE" { fail("\(name) cannot be reached") }
      if words.first != "ANSWER" { continue }
      say("\(name) has answered after \(seconds(ContinuousClock.now - start)) s")
      exit(0)
    }
    if line.isClosed { break }
  }
  fail("\(name) does not answer")
}
