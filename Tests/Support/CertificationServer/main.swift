// A server of org.varlink.certification, for tests only: `CertificationServer SOCKET`.
// It says "ready" on standard output when it listens, and ends when it has heard nothing for a
// minute, so that none outlives a test that was killed.
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
