import Glibc
import LinuxSystem

/// An isolated network namespace, which a process keeps open. Changes to it do not affect the
/// machine's network.
public final class NetworkNamespace {
  private let keeper: TestProcess

  /// The reason why this machine cannot create a namespace; nil if it can.
  public static let missing: String? = {
    guard geteuid() == 0 else { return "only root can create network namespaces" }
    for tool in ["unshare", "nsenter", "ip"]
    where SpawnRequest.searchPath(tool, in: searchPath) == nil {
      return "there is no program \(tool)"
    }
    do {
      let network = try NetworkNamespace()
      try network.ip("link add name test type veth peer name other")
      return nil
    } catch {
      return "this machine cannot create network namespaces with veth pairs: \(error)"
    }
  }()

  public init() throws {
    keeper = try TestProcess.shell("exec unshare --net sh -c 'echo made; read end'")
    guard try keeper.readLine() == "made" else {
      throw MachineError(sentence: "unshare --net has failed")
    }
  }

  /// Runs `ip` in the namespace, and throws if it fails.
  public func ip(_ arguments: String) throws {
    let ip = try TestProcess.shell("nsenter -t \(keeper.pid) -n ip \(arguments) 2>&1") {
      $0.environment = [SystemString("PATH=\(searchPath)")]
    }
    var said = ""
    while let line = try ip.readLine() { said += line }
    guard try ip.waitForExit() == .exited(code: 0) else {
      throw MachineError(sentence: "ip \(arguments): \(said)")
    }
  }

  /// Runs several commands of `ip` in one process.
  public func batch(_ commands: [String]) throws {
    let folder = TemporaryDirectory()
    let file = folder.write("batch", commands.joined(separator: "\n") + "\n")
    try ip("-batch \(file)")
  }

  /// Runs `body` on this thread in the namespace. The sockets that `body` creates stay in the
  /// namespace.
  public func inside<Value: ~Copyable>(_ body: () throws -> Value) throws -> Value {
    let own = try FileDescriptor.open(reading: "/proc/thread-self/ns/net")
    let there = try FileDescriptor.open(reading: "/proc/\(keeper.pid)/ns/net")
    try Self.enter(there.rawValue)
    defer {
      // If the thread stayed in the namespace, it would run other tests in the wrong network.
      do { try Self.enter(own.rawValue) } catch { fatalError("\(error)") }
    }
    return try body()
  }

  /// setns(2), which Swift's Glibc module does not declare.
  private static let setns: @convention(c) (Int32, Int32) -> Int32 = {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "setns") else {
      preconditionFailure("every Linux since 3.0 has setns")
    }
    return unsafeBitCast(symbol, to: (@convention(c) (Int32, Int32) -> Int32).self)
  }()

  private static func enter(_ number: Int32) throws {
    // CLONE_NEWNET makes the kernel refuse descriptors of other kinds of namespaces.
    if setns(number, 0x4000_0000) != 0 { throw SystemError(call: "setns", errno: errno) }
  }
}

private let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
