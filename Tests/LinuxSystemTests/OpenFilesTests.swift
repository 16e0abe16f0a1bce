import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("Open files of made-up processes")
struct OpenFilesTests {
  private let root = TemporaryDirectory()

  init() {
    for folder in ["42", "42/fd", "42/fdinfo", "42/net", "42/ns", "1"] {
      mkdir(root.file(folder), 0o755)
    }
  }

  private func open(_ number: Int, _ target: String, info: String = "") {
    symlink(target, root.file("42/fd/\(number)"))
    root.write("42/fdinfo/\(number)", "pos:\t0\nflags:\t02\n\(info)")
  }

  private func files() throws -> OpenFiles {
    OpenFiles(of: [42], in: try ProcFS(root: root.path))
  }

  private func listening() throws -> [String] {
    var sockets = ListeningSockets()
    return try addresses(&sockets)
  }

  /// As the tables are now.
  private func addresses(_ sockets: inout ListeningSockets) throws -> [String] {
    var tables = SocketTables(in: try ProcFS(root: root.path))
    return try sockets.addresses(of: files(), in: &tables)
  }

  private func line(_ number: Int, _ address: String, _ state: String, _ inode: Int) -> String {
    "\(number): \(address) 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000 "
      + "1000 0 \(inode) 1 0000000000000000 100 0 0 10 0\n"
  }

  private let header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"

  @Test("sockets that listen are told with address and port, of both kinds of addresses")
  func bothKinds() throws {
    for inode in 7...10 { open(inode, "socket:[\(inode)]") }
    root.write(
      "42/net/tcp", header + line(0, "0100007F:0050", "0A", 7) + line(1, "00000000:1F90", "0A", 77))
    root.write(
      "42/net/tcp6",
      header + line(0, "00000000000000000000000001000000:01BB", "0A", 8))
    root.write(
      "42/net/unix",
      """
      Num       RefCount Protocol Flags    Type St Inode Path
      0: 00000002 00000000 00010000 0001 01 9 @name
      0: 00000002 00000000 00000000 0001 03 10 /run/not
      0: 00000002 00000000 00010000 0001 01 99 /run/others

      """)
    #expect(try listening() == ["127.0.0.1:80", "@name", "[::1]:443"])
  }

  @Test("of a long table, no more is read than those that listen, which are first")
  func long() throws {
    open(3, "socket:[7]")
    open(4, "socket:[8]")
    let others = (1...1000).map { line($0, "0100007F:0051", "01", 1000 + $0) }.joined()
    // The kernel writes none here: that it is not found shows that it is not reached.
    let last = line(1001, "0100007F:0052", "0A", 8)
    root.write("42/net/tcp", header + line(0, "0100007F:0050", "0A", 7) + others + last)
    #expect(try listening() == ["127.0.0.1:80"])
    let table = try ProcFS(root: root.path).bytes(
      "42/net/tcp", until: { !SocketTable.isOfListening($0) })
    #expect(try #require(table).count < 20_000)
  }

  @Test("no table is read for whoever is connected, or takes datagrams, or listens already")
  func remembered() throws {
    for inode in 7...9 { open(inode, "socket:[\(inode)]") }
    let titles = "Num       RefCount Protocol Flags    Type St Inode Path\n"
    root.write(
      "42/net/unix",
      titles + "0: 00000002 00000000 00000000 0001 03 7\n"
        + "0: 00000002 00000000 00000000 0002 01 8 /run/a log\n"
        + "0: 00000002 00000000 00010000 0005 01 9 /run/with space\n")
    var sockets = ListeningSockets()
    #expect(try addresses(&sockets) == ["/run/with space"])
    // Whoever reads it now finds nothing.
    root.write("42/net/unix", titles)
    #expect(try addresses(&sockets) == ["/run/with space"])
    // One that is new, and not connected yet, is looked for each time.
    open(10, "socket:[10]")
    for flags in ["00000000", "00010000"] {
      let listens = flags == "00010000"
      root.write("42/net/unix", titles + "0: 00000002 00000000 \(flags) 0001 01 10 @new\n")
      #expect(
        try addresses(&sockets)
          == (listens ? ["/run/with space", "@new"] : ["/run/with space"]))
    }
    // One that is closed is forgotten.
    unlink(root.file("42/fd/9"))
    #expect(try addresses(&sockets) == ["@new"])
  }

  @Test("each table is read once for all who are asked for together")
  func together() throws {
    open(3, "socket:[7]")
    let titles = "Num       RefCount Protocol Flags    Type St Inode Path\n"
    root.write("42/net/unix", titles + "0: 00000002 00000000 00010000 0001 01 7 @name\n")
    var tables = SocketTables(in: try ProcFS(root: root.path))
    for _ in 0..<2 {
      var sockets = ListeningSockets()
      #expect(try sockets.addresses(of: files(), in: &tables) == ["@name"])
      root.write("42/net/unix", titles)
    }
    var sockets = ListeningSockets()
    #expect(try addresses(&sockets) == [])
  }

  @Test("a shared file is known by what it is, also where a sandbox hides its path from us")
  func hidden() throws {
    let home = root.file("1/root/home")
    for folder in ["1/root", "1/root/home"] { mkdir(root.file(folder), 0o755) }
    root.write("1/root/home/contacts.db", "")
    symlink("home/contacts.db", root.file("1/root/link.db"))
    open(3, "\(home)/contacts.db", info: "lock:\t1: FLOCK  ADVISORY  WRITE 42 00:13:1 0 EOF\n")
    for path in ["/home/contacts.db", "/link.db"] {
      #expect(try files().firstHeld(of: ["/home/none", path]) == path)
    }
    #expect(try files().firstHeld(of: ["/home/other.db"]) == nil)
    unlink(root.file("42/fdinfo/3"))
    root.write("42/fdinfo/3", "pos:\t0\n")
    #expect(try files().firstHeld(of: ["/home/contacts.db"]) == nil, "it has no lock")
  }
}
