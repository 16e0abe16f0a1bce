// An application that continues an upload in the background; see Uploader.swift.

import Glibc
import TaskSchedulerClient

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
  write(Options.usage + "\n", to: STDERR_FILENO)
  exit(2)
}
signal(SIGPIPE, SIG_IGN)
let destination = open(options.destination)
let uploader = Uploader(stubborn: options.stubborn)
do throws(ApplicationError) {
  let application = try ScheduledApplication.registerAndWait(
    options.id, delegate: uploader, ifAvailable: true)
  if !application.isManaged { say("no daemon, uploading without it") }
  uploader.upload(chunks: options.chunks, to: destination)
  uploader.endTask(application)
} catch {
  fail("\(error)")
}
