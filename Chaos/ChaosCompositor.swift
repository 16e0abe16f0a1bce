import Glibc
import LinuxSystem

/// A sway compositor without a screen, and a connection to it. The compositor runs as a user of the
/// campaign.
struct ChaosCompositor: ~Copyable {
  let process: PIDFD
  private let socket: FileDescriptor

  /// The kinds of messages of sway's IPC.
  private enum Message: UInt32 {
    case runCommand = 0
    case getTree = 4
  }

  /// Starts the compositor, and waits until it accepts commands.
  init() throws {
    let configuration = Settings.session + "/config"
    let text = "xwayland disable\nfocus_on_window_activation none\n"
    let file = fopen(configuration, "we")
    guard let file else { throw SystemError(call: "fopen \(configuration)", errno: errno) }
    fputs(text, file)
    fclose(file)
    let sway = try Self.startInSession(["/usr/bin/sway", "-c", configuration])
    let path = "\(Settings.session)/sway-ipc.\(Settings.users[0]).\(sway.pid).sock"
    socket = try Self.connect(to: path)
    process = sway
  }

  /// Connects to the compositor, which listens within a second after its start.
  private static func connect(to path: String) throws -> FileDescriptor {
    let end = BootClock.now() + 20_000_000_000
    while true {
      do throws(SystemError) {
        return try UnixSocket.connect(path: path)
      } catch {
        guard BootClock.now() < end else { throw error }
        _ = poll(nil, 0, 5)
      }
    }
  }

  /// Starts a program as the session's user.
  static func startInSession(_ arguments: [String]) throws -> PIDFD {
    var request = SpawnRequest(
      path: arguments[0], arguments: arguments,
      environment: [
        "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=\(Settings.session)",
        "XDG_RUNTIME_DIR=\(Settings.session)", "TASKSCHEDD_SOCKET=\(Settings.socket)",
        "WLR_BACKENDS=headless",
        "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman",
      ])
    let user = Settings.users[0]
    request.identity = .init(uid: user, gid: user, groups: [])
    request.newSession = true
    return try HeldChild.spawn(request).releaseAndWaitForExec()
  }

  /// Runs a command of sway.
  func run(_ command: String) throws {
    let reply = try exchange(.runCommand, command)
    guard !reply.contains("\"success\":false"), !reply.contains("\"success\": false") else {
      throw Failure(sentence: "sway: \(command): \(reply)")
    }
  }

  /// Returns whether a window with this app id exists.
  func shows(_ name: String) throws -> Bool {
    let tree = try exchange(.getTree, "")
    return tree.contains("\"app_id\": \"\(name)\"") || tree.contains("\"app_id\":\"\(name)\"")
  }

  private func exchange(_ kind: Message, _ text: String) throws -> String {
    var message = Array("i3-ipc".utf8)
    for number in [UInt32(text.utf8.count), kind.rawValue] {
      withUnsafeBytes(of: number) { message.append(contentsOf: $0) }
    }
    message += Array(text.utf8)
    _ = try message.withUnsafeBytes { try socket.write($0) }
    let header = try read(14)
    let count = header[6..<10].reversed().reduce(0) { $0 << 8 | Int($1) }
    return String(decoding: try read(count), as: UTF8.self)
  }

  private func read(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = try bytes.withUnsafeMutableBytes {
        try socket.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[done...]))
      }
      guard let got, got > 0 else { throw Failure(sentence: "sway closed its connection") }
      done += got
    }
    return bytes
  }
}
