import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// The daemon under test: its process, which the campaign kills, and its socket, which must answer.
struct Daemon {
  private static let group = ControlGroup(path: "/sys/fs/cgroup/system.slice/taskschedd.service")

  /// Returns the daemon's process, even if it does not serve calls yet; nil if no daemon runs.
  static func process(in proc: ProcFS) -> PIDFD? {
    guard let text = Files.text(group.path + "/cgroup.procs") else { return nil }
    for line in text.split(separator: "\n") {
      guard let pid = Int32(line), let process = (try? PIDFD.open(pid)) ?? nil,
        (try? proc.stat(pid))??.command == "taskschedd"
      else { continue }
      return process
    }
    return nil
  }

  /// Replaces the installed program and units of the daemon by those of the next version.
  static func install() throws {
    var replacements = [(Settings.nextProgram, Settings.program)]
    for unit in try Directory.names(path: Settings.nextUnits) {
      replacements.append(("\(Settings.nextUnits)/\(unit)", "\(Settings.units)/\(unit)"))
    }
    for (next, installed) in replacements {
      guard rename(next, installed) == 0 else { throw SystemError(call: "rename", errno: errno) }
    }
    guard try systemctl("daemon-reload").wait() == .ended(.exited(code: 0)) else {
      throw Failure(sentence: "systemctl daemon-reload failed")
    }
  }

  static func systemctl(_ arguments: String...) throws -> PIDFD {
    let request = SpawnRequest(
      path: "/usr/bin/systemctl", arguments: ["systemctl"] + arguments,
      environment: ["PATH=/usr/bin:/bin"])
    return try HeldChild.spawn(request).releaseAndWaitForExec()
  }

  /// Returns whether the daemon that runs was started from the program that is installed now.
  static func isInstalled(in proc: ProcFS) -> Bool {
    guard let process = process(in: proc) else { return false }
    var (running, installed) = (stat(), stat())
    return stat("/proc/\(process.pid)/exe", &running) == 0
      && stat(Settings.program, &installed) == 0 && running.st_ino == installed.st_ino
      && running.st_dev == installed.st_dev
  }

  /// Waits until the daemon answers a call, and returns the time. If no daemon runs yet, the call
  /// waits in systemd's listening socket, and the next daemon answers it as early as possible.
  static func waitUntilServed() -> UInt64 {
    while true {
      if let connection = RawConnection(), connection.send("org.varlink.service.GetInfo", [:]) {
        waiting: for _ in 0..<300 {
          switch connection.receive(within: 100_000_000) {
          case .message: return BootClock.now()
          case .nothing: continue
          case .closed: break waiting
          }
        }
      }
      _ = poll(nil, 0, 1)
    }
  }

  /// Makes a call of the control interface, and repeats it until the daemon answers.
  static func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws -> Method.Output {
    var attempt = 0
    while true {
      do {
        let connection = try Connection.connect(to: SocketPath(Settings.socket))
        defer { connection.close() }
        return try connection.call(method, input, timeout: .seconds(30))
      } catch let error as ConnectionError {
        attempt += 1
        if attempt == 100 { throw error }
        _ = poll(nil, 0, 10)
      }
    }
  }
}

enum Files {
  /// Returns the text of a small file; nil if it cannot be read.
  static func text(_ path: String) -> String? {
    (try? FileDescriptor.open(reading: path).readToEnd()).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
