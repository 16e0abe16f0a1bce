// An application that runs services of swift-service-lifecycle; see Outbox.swift.

import Glibc
import Logging
import ServiceLifecycle
import TaskSchedulerClient
import TaskSchedulerServiceLifecycle

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 1, let count = Int(arguments[1]), count > 0 else {
  say("usage: outbox-example COUNT")
  exit(2)
}
do {
  let application = try await ScheduledApplication.register(
    "org.example.outbox", ifAvailable: true)
  let group = ServiceGroup(
    services: [Outbox(application: application, count: count)],
    gracefulShutdownSignals: [.sigint, .sigterm], logger: Logger(label: "outbox-example"))
  try await group.run(as: application) { event in say("\(event)") }
} catch {
  say("outbox-example: \(error)")
  exit(1)
}
