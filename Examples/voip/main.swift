// Signalling for calls, on this machine: a server, a phone that sleeps until it is called, and
// a caller. See Phone.swift for how it is reached while it is suspended.

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
