import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

private let visibleKernelThread: Int32? = {
  guard let proc = try? ProcFS(), let pids = try? proc.pids() else { return nil }
  return pids.first { ((try? proc.stat($0)) ?? nil)?.isKernelThread ?? false }
}()

/// Contract §15: the processes that `Adopt` refuses to take under management, and the reasons.
@Suite("§15: Adopt accepts and refuses processes")
struct AdoptionTests {
  private static let adopt = #"""
    {"method":"org.taskschedd.Control.Adopt","parameters":
    {"application":"org.test.adopted","processFileDescriptor":0}}
    """#

  private func reason(_ answer: JSONValue?) -> String? {
    guard answer?.errorName == "InvalidProcess",
      case .string(let reason)? = answer?["parameters"]?["reason"]
    else { return nil }
    return reason
  }

  @Test("§15: A program cannot adopt its own parent or another ancestor")
  func ancestor() throws {
    let daemon = try DaemonFixture()
    // A grandchild tries to adopt its parent, and then its grandparent.
    let program = try daemon.python(
      """
      import json, os, socket
      grandparent = os.getpid()
      if os.fork() == 0 and os.fork() == 0:
          for parent in [os.getppid(), grandparent]:
              s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"])
              call = {"method": "org.taskschedd.Control.Adopt", "parameters":
                      {"application": "org.test.parent", "processFileDescriptor": 0}}
              socket.send_fds(s, [json.dumps(call).encode() + b"\\0"], [os.pidfd_open(parent)])
              print(s.recv(65536)[:-1].decode(), flush=True)
          os._exit(0)
      os.wait()
      """)
    for _ in 0..<2 {
      let answer = try JSONParser.parse(Array(try program.nextLine().utf8))
      #expect(reason(answer) == "the caller itself descends from it", "\(answer)")
    }
    #expect(try daemon.applications().isEmpty)
  }

  @Test(
    "§15: Not even root can adopt a kernel thread",
    .enabled(if: visibleKernelThread != nil && geteuid() == 0, "no kernel thread is visible here"))
  func kernelThread() throws {
    let daemon = try DaemonFixture()
    guard let thread = try PIDFD.open(try #require(visibleKernelThread)) else {
      throw SystemError(call: "pidfd_open", errno: ESRCH)
    }
    let answer = try RawClient(daemon).call(Self.adopt, descriptors: [thread.rawValue])
    #expect(reason(answer) == "it is a kernel thread", "\(String(describing: answer))")
    #expect(try daemon.applications().isEmpty)
  }

  @Test(
    "§15: If the daemon has no free descriptor, Adopt names this reason, and not an invalid pidfd")
  func noDescriptors() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    let client = try RawClient(daemon)
    let list = #"{"method":"org.taskschedd.Control.ListApplications"}"#
    _ = try client.call(list)
    func limit(_ soft: Int) throws {
      let program = try TestProcess(
        "/usr/bin/prlimit", ["prlimit", "--pid=\(daemon.process.pid)", "--nofile=\(soft):"])
      #expect(try program.waitForExit() == .exited(code: 0))
    }
    // The limit leaves room for the descriptor that the client sends, but not for one that the
    // daemon opens.
    try limit(try daemon.descriptorCount() + 1)
    let answer = try client.call(Self.adopt, descriptors: [program.pidfd.rawValue])
    try limit(4096)
    let told = try #require(reason(answer), "\(String(describing: answer))")
    #expect(told.contains("no free descriptor") && told.contains("EMFILE"), "\(told)")
    #expect(try client.call(Self.adopt, descriptors: [program.pidfd.rawValue])?.errorName == nil)
  }
}
