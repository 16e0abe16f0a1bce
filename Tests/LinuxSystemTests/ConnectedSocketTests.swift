import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Tests of contract §7: an application passes a connected stream socket to the daemon.
@Suite("§7: A descriptor that an application passes as a connection")
final class ConnectedSocketTests {
  private let directory = TemporaryDirectory()
  /// Represents the daemon's listening socket.
  private let listener: FileDescriptor
  private var path: String { directory.file("socket") }

  init() throws {
    listener = try UnixSocket.listen(path: directory.file("socket"), mode: 0o600)
  }

  private func refusal(_ number: Int32) -> SocketRefusal? {
    do throws(SocketRefusal) {
      _ = try ConnectedSocket.cookie(of: number, listener: listener.rawValue)
      return nil
    } catch {
      return error
    }
  }

  private func socket(_ family: Int32, _ type: UInt32) throws -> FileDescriptor {
    FileDescriptor(taking: try succeeded(Glibc.socket(family, Int32(type), 0)))
  }

  @Test("A descriptor that is not a socket is refused, and the error names its kind")
  func noSocket() throws {
    let file = try FileDescriptor.open(reading: directory.write("file", "text"))
    #expect(refusal(file.rawValue) == .notASocket(what: "a file"))
    let folder = try FileDescriptor.open(reading: directory.path)
    #expect(refusal(folder.rawValue) == .notASocket(what: "a file"))
    let device = try FileDescriptor.open(reading: "/dev/null")
    #expect(refusal(device.rawValue) == .notASocket(what: "a file"))
    let (reading, writing) = try FileDescriptor.pipe().ends()
    FileDescriptor(taking: writing).close()
    let pipe = FileDescriptor(taking: reading)
    #expect(refusal(pipe.rawValue) == .notASocket(what: "a pipe"))
    let event = try FileDescriptor.event()
    #expect(
      refusal(event.rawValue)?.description
        == "a kernel object without a name, such as an eventfd; a connected stream socket is "
        + "needed")
  }

  @Test("A descriptor of a socket's path is refused, because most calls on it fail with EBADF")
  func pathOnly() throws {
    let opened = try FileDescriptor.open(reading: path, flags: 0o10000000)
    #expect(refusal(opened.rawValue) == .notASocket(what: "a path that was opened with O_PATH"))
  }

  @Test("A socket of another type is refused")
  func types() throws {
    let datagram = try socket(AF_INET, SOCK_DGRAM.rawValue)
    #expect(
      refusal(datagram.rawValue)?.description
        == "a datagram socket (SOCK_DGRAM); a connected stream socket (SOCK_STREAM) is needed")
    let packets = try socket(AF_UNIX, SOCK_SEQPACKET.rawValue)
    #expect(
      refusal(packets.rawValue) == .notAStream(what: "a sequenced-packet socket (SOCK_SEQPACKET)"))
    let netlink = try socket(AF_NETLINK, SOCK_RAW.rawValue)
    #expect(refusal(netlink.rawValue) == .notAStream(what: "a raw socket (SOCK_RAW)"))
  }

  @Test("A listening socket is refused", arguments: StreamKind.allCases)
  func listening(_ kind: StreamKind) throws {
    let server = try StreamServer(kind, in: directory)
    #expect(refusal(server.number) == .listening)
    #expect(refusal(listener.rawValue) == .listening)
  }

  @Test("A socket that is not connected is refused", arguments: [AF_INET, AF_INET6, AF_UNIX])
  func notConnected(_ family: Int32) throws {
    guard family != AF_INET6 || access("/proc/net/if_inet6", F_OK) == 0 else {
      return print("skipped: this kernel has no IPv6")
    }
    let socket = try socket(family, SOCK_STREAM.rawValue)
    #expect(refusal(socket.rawValue) == .notConnected)
  }

  @Test("A socket whose connect has not completed is refused with a separate reason")
  func connecting() throws {
    let server = try StreamServer(.tcp, in: directory, backlog: 0)
    // A backlog of 0 holds one connection; the next connection waits.
    let first = try server.connect()
    let second = try server.beginToConnect()
    #expect(
      refusal(second.number)?.description
        == "a socket that is not connected yet; pass it after connect(2) has succeeded")
    #expect(refusal(first.number) == nil, "a connection may be passed before it is accepted")
  }

  @Test("A connection that the peer has reset is refused, and its pending error is not read")
  func reset() throws {
    let (application, peer) = try StreamServer(.tcp, in: directory).pair()
    try peer.reset()
    try waitFor(POLLHUP, on: application.number)
    #expect(refusal(application.number) == .notConnected)
    #expect(try application.takeError() == ECONNRESET)
  }

  @Test("All descriptors of a connection have the same cookie", arguments: StreamKind.allCases)
  func cookies(_ kind: StreamKind) throws {
    let server = try StreamServer(kind, in: directory)
    let (application, peer) = try server.pair()
    let (other, _) = try server.pair()
    let copy = try application.duplicate()
    let listener = self.listener.rawValue
    let cookie = try ConnectedSocket.cookie(of: application.number, listener: listener)
    #expect(try ConnectedSocket.cookie(of: copy.rawValue, listener: listener) == cookie)
    #expect(try ConnectedSocket.cookie(of: other.number, listener: listener) != cookie)
    #expect(try ConnectedSocket.cookie(of: peer.number, listener: listener) != cookie)
  }

  @Test("A connection of a socket pair is accepted, although its peer has no address")
  func pair() throws {
    let pair = try UnixSocket.pair()
    #expect(refusal(pair.first.rawValue) == nil)
  }

  @Test(
    """
    The check changes neither the flags nor the unread data nor the pending error of a \
    connection
    """, arguments: [true, false])
  func untouched(nonblocking: Bool) throws {
    let (application, peer) = try StreamServer(.unix, in: directory).pair()
    if nonblocking { try application.duplicate().setNonblocking(true) }
    let flags = fcntl(application.number, F_GETFL)
    try peer.send("text")
    // If a socket is closed with unread data, its peer has the pending error ECONNRESET.
    try application.send("unread")
    peer.close()
    // Waits for the hang-up, because a child that another test has forked may hold a copy of the
    // peer until the child executes its program.
    var hangUp = pollfd(fd: application.number, events: 0, revents: 0)
    #expect(poll(&hangUp, 1, 20_000) == 1)
    #expect(refusal(application.number) == nil)
    let watch = try SocketWatch(of: application.number)
    #expect(watch.conditions() == [.data, .hangUp, .error])
    #expect(fcntl(application.number, F_GETFL) == flags)
    #expect(try UnixSocket.readableCount(application.number) == 4)
    #expect(try application.takeError() == ECONNRESET)
  }
}

@Suite("§7: A connection to the daemon itself")
struct OwnConnectionTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.file("socket") }

  private func isRefused(_ number: Int32, _ listener: Int32) -> Bool {
    do throws(SocketRefusal) {
      _ = try ConnectedSocket.cookie(of: number, listener: listener)
      return false
    } catch {
      return error == .schedulersOwn
    }
  }

  @Test("A connection to the daemon is refused, whatever path the client used, even before accept")
  func client() throws {
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    #expect(symlink("socket", directory.file("link")) == 0)
    #expect(symlink(".", directory.file("parent")) == 0)
    for name in ["socket", "link", "parent/socket", "./parent/link"] {
      let client = try UnixSocket.connect(path: directory.file(name))
      #expect(isRefused(client.rawValue, listener.rawValue), "\(name)")
      let accepted = try unwrap(UnixSocket.accept(listener.rawValue))
      #expect(isRefused(client.rawValue, listener.rawValue), "\(name), accepted")
      #expect(
        !isRefused(accepted.rawValue, listener.rawValue),
        "only the cookie identifies the daemon's end")
    }
  }

  @Test("A connection to the daemon at an abstract address is refused")
  func abstract() throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = [0] + Array("taskschedd-test-\(getpid())-own".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(2 + name.count)
    let type = Int32(SOCK_STREAM.rawValue)
    let listener = FileDescriptor(taking: try succeeded(socket(AF_UNIX, type, 0)))
    let client = FileDescriptor(taking: try succeeded(socket(AF_UNIX, type, 0)))
    let copy = address
    try withUnsafeBytes(of: copy) {
      let address = $0.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      _ = try succeeded(bind(listener.rawValue, address, length))
      _ = try succeeded(listen(listener.rawValue, 1))
      _ = try succeeded(connect(client.rawValue, address, length))
    }
    #expect(isRefused(client.rawValue, listener.rawValue))
  }

  @Test("The daemon's end of a connection is refused by its cookie")
  func accepted() throws {
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    let client = try UnixSocket.connect(path: path)
    let accepted = try unwrap(UnixSocket.accept(listener.rawValue))
    let cookie = try UnixSocket.cookie(accepted.rawValue)
    let copy = try accepted.duplicate()
    #expect(throws: SocketRefusal.schedulersOwn) {
      _ = try ConnectedSocket.cookie(
        of: copy.rawValue, listener: listener.rawValue, isOwn: { $0 == cookie })
    }
    client.close()
  }

  @Test("A connection to another process at the same path is accepted")
  func otherProcess() throws {
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    let mine = try UnixSocket.connect(path: path)
    try UnixSocket.unlink(path: path)
    let listening = """
      import socket, sys
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1])
      s.listen()
      print("listening")
      sys.stdin.readline()
      """
    let other = try TestProcess.python(listening, [path])
    #expect(try other.readLine() == "listening")
    let others = try UnixSocket.connect(path: path)
    #expect(!isRefused(others.rawValue, listener.rawValue))
    #expect(isRefused(mine.rawValue, listener.rawValue))
  }
}

/// Returns the result of a system call, or throws the errno if the call has failed.
func succeeded(_ number: Int32) throws(SystemError) -> Int32 {
  if number < 0 { throw SystemError(call: "a call of the test", errno: errno) }
  return number
}
