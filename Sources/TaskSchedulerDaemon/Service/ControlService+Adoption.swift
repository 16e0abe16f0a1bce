import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

// The adoption of processes that callers pass to the daemon. `DesktopAdoption` adopts programs that
// the daemon finds by their windows.
extension ControlService {
  func adopt(_ input: Interface.Adopt.Input, _ connection: Connection) throws {
    guard let id = ApplicationID(input.application) else {
      throw Interface.Failure.invalidApplicationID(application: input.application)
    }
    if let name = input.backgroundTask {
      try ApplicationService.checkTaskName(name, parameter: "backgroundTask")
    }
    let modes = try (input.backgroundModes ?? []).enumerated().map {
      index, name throws(ParameterError) in
      guard let mode = BackgroundMode(rawValue: name) else {
        throw ParameterError(
          parameter: "backgroundModes[\(index)]",
          problem: "a mode must be audio, location or voip")
      }
      return mode
    }
    guard modes.count == Set(modes).count else {
      throw ParameterError(parameter: "backgroundModes", problem: "a mode is given twice")
    }
    guard let descriptor = connection.take(input.processFileDescriptor) else {
      throw ParameterError(
        parameter: "processFileDescriptor", problem: "the call has no such descriptor")
    }
    let (process, uid) = try adoptable(descriptor, by: connection.peer)
    let marker = input.marker.flatMap { Self.isMarker($0) ? $0 : nil }
    if input.marker != nil, marker == nil {
      throw ParameterError(parameter: "marker", problem: "it must have 1 to 64 letters and digits")
    }
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let leader = launches.expect(.init(process: process, uid: uid, origin: .init(marker: marker)))
    let application = ApplicationKey(id, owner: UserID(uid))
    let seats = ProcessSeats(proc: membership.proc)
    let seat = try seats.terminalOrAlone(of: leader.pid, application)
    let request = requests.open(connection, application: id.name)
    post(
      .operation(
        .adopt(
          request,
          Adoption(
            application: application, leader: leader,
            target: input.background == true ? .background : .foreground,
            seat: seat, backgroundTask: input.backgroundTask, backgroundModes: modes))))
  }

  /// Returns the process that the caller's pidfd refers to, and the user of the process. Refuses a
  /// process that the caller may not pass to the daemon.
  private func adoptable(
    _ descriptor: consuming FileDescriptor, by peer: Peer
  ) throws -> (process: ProcessHandle, uid: UInt32) {
    let process: ProcessHandle
    do throws(SystemError) {
      process = try ProcessHandle(PIDFD(adopting: descriptor), in: membership.proc)
    } catch where error.errno == EINVAL {
      throw ParameterError(
        parameter: "processFileDescriptor",
        problem: "it must be a pidfd of a process (not of a thread) in the daemon's PID namespace")
    } catch {
      throw Interface.Failure.invalidProcess(pid: 0, reason: Self.reason(notHeld: error))
    }
    let pid = process.identity.pid
    guard let details = try membership.proc.details(pid), try process.pidfd.hasEnded() == false
    else {
      throw Interface.Failure.invalidProcess(pid: Int(pid), reason: "it has ended")
    }
    let uids = details.uids
    guard isOperator(peer) || (uids.real == peer.uid && uids.effective == peer.uid) else {
      throw Interface.Failure.notPermitted(application: nil)
    }
    if let reason = try settings.refusal(of: process, uid: uids.real) {
      throw Interface.Failure.invalidProcess(pid: Int(pid), reason: reason)
    }
    if membership.isOurs(process.identity) {
      throw Interface.Failure.invalidProcess(
        pid: Int(pid), reason: "the daemon itself descends from it")
    }
    if try agents.isNeeded(process.identity, in: membership.proc) {
      throw Interface.Failure.invalidProcess(
        pid: Int(pid), reason: SessionAgents.refusal(of: pid))
    }
    if try membership.proc.stat(pid)?.isKernelThread ?? false {
      throw Interface.Failure.invalidProcess(pid: Int(pid), reason: "it is a kernel thread")
    }
    if let caller = try peer.identity(),
      try membership.proc.ancestors(caller.pid).contains(process.identity)
    {
      throw Interface.Failure.invalidProcess(
        pid: Int(pid), reason: "the caller itself descends from it")
    }
    if try membership.instance(of: process.identity, uid: uids.real) != nil {
      throw Interface.Failure.invalidProcess(
        pid: Int(pid), reason: "it belongs to an application already")
    }
    return (process, uids.real)
  }

  /// Returns the reason why the daemon cannot manage the process of a received descriptor.
  private static func reason(notHeld error: SystemError) -> String {
    switch error.errno {
    case EINVAL: "the descriptor is not a pidfd of a process"
    case ESRCH: "it has ended"
    case EMFILE, ENFILE: "the daemon has no free descriptor for it: \(error)"
    default: "the daemon cannot examine it: \(error)"
    }
  }

  private static func isMarker(_ marker: String) -> Bool {
    (1...64).contains(marker.utf8.count)
      && marker.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
          || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
      }
  }
}
