// An application that goes on in the background: see Uploader.swift for what it does about it.

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
  let application = try ScheduledApplication.register(
    options.id, delegate: uploader, ifAvailable: true)
  if !application.isManaged { say("no daemon: uploading without") }
  uploader.upload(chunks: options.chunks, to: destination)
  uploader.endTask(application)
} catch {
  fail("\(error)")
}
