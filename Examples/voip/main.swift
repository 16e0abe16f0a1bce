// Telephone calls on this machine: a server, a phone that is suspended until a call arrives, and a
// caller. Phone.swift shows how a call reaches the suspended phone.

import Glibc

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
  write(Options.usage + "\n", to: STDERR_FILENO)
  exit(2)
}
signal(SIGPIPE, SIG_IGN)
switch options.role {
case .server: Server(port: options.port).run()
case .phone(let phone): Phone.run(phone, port: options.port)
case .call(let callee, let caller): call(callee, as: caller, port: options.port)
}
