// A server of org.varlink.certification, for tests only: `CertificationServer SOCKET`.
// It prints "ready" on standard output when it listens. It exits after a minute without a message,
// so that it does not outlive a killed test.
import Glibc
import TaskSchedulerWire

guard CommandLine.arguments.count == 2 else {
  complain("usage: CertificationServer SOCKET")
  exit(2)
}
do {
  var server = try CertificationServer(path: CommandLine.arguments[1])
  print("ready")
  fflush(nil)
  try server.run()
} catch {
  complain("\(error)")
  exit(1)
}
