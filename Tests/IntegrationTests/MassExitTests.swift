import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15, with many applications that end at the same moment.
@Suite("§15: 2,000 applications that end at once do not delay other clients")
struct MassExitTests {
  /// Starts children that the daemon adopts, kills all of them at once, and then sends calls until
  /// the daemon has reported all ends. Prints two durations in milliseconds: the time of the
  /// slowest answer, and the time until the last report.
  private static let program = """
    import json, os, select, signal, socket, sys, time
    def connect():
        s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"]); return s
    def receive(s):
        data = b""
        while not data.endswith(b"\\0"): data += s.recv(1 << 16)
        return data
    def call(method, **parameters):
        return json.dumps({"method": method, "parameters": parameters}).encode() + b"\\0"
    count, control = int(sys.argv[1]), connect()
    herd = []
    for number in range(count):
        pid = os.posix_spawn("/bin/sleep", ["sleep", "1000"], os.environ, setpgroup=0)
        herd.append(pid)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(control, [call(
            "org.taskschedd.Control.Adopt", application=f"org.test.n{number}",
            processFileDescriptor=0, background=True)], [pidfd])
        os.close(pidfd)
        assert b"instance" in receive(control)
        if number % 100 == 99: print("adopted", number + 1, flush=True)
    monitor = connect()
    monitor.sendall(b'{"method":"org.taskschedd.Control.Monitor","more":true}\\0')
    seen = b""
    while b'"ready":true' not in seen: seen = seen[-99:] + monitor.recv(1 << 16)
    info, longest, ended, rest = call("org.varlink.service.GetInfo"), 0, 0, b""
    for pid in herd: os.kill(pid, signal.SIGKILL)
    start = time.monotonic()
    while ended < count:
        before = time.monotonic()
        control.sendall(info); receive(control)
        longest = max(longest, time.monotonic() - before)
        while select.select([monitor], [], [], 0)[0]:
            rest += monitor.recv(1 << 16)
            ended += rest.count(b'"kind":"ended"')
            rest = rest[-20:] if b'"kind":"ended"' not in rest[-20:] else b""
    print(round(longest * 1000), round((time.monotonic() - start) * 1000), flush=True)
    """

  @Test("Another client's round trip takes at most 200 ms while the daemon handles all ends")
  func massExit() throws {
    let daemon = try DaemonFixture(.init(policy: [("LaunchTime", "1h")]))
    let herd = try daemon.python(Self.program, ["2000"])
    for _ in 0..<20 { #expect(try herd.nextLine().hasPrefix("adopted")) }
    let times = try herd.nextLine().split(separator: " ").compactMap { Int($0) }
    let longest = try #require(times.first)
    let all = try #require(times.last)
    // On a slow machine, the daemon needs seconds to handle all ends. An answer may then take a
    // quarter of that time.
    #expect(longest < max(200, all / 4), "\(longest) ms of \(all) ms in all")
    #expect(try daemon.applications().allSatisfy { $0.lastEnd?.reason == .crashed })
  }
}
