import LinuxSystem
import TaskSchedulerCore

// How the daemon finds the instance of each stream of an audio server (contract §13).
//
// The problem: most audio servers know the process of a stream only from the client itself. A
// program that names the process of another application must not keep that application running.
//
// The idea: if the server did not read the pid from the client's socket, the daemon examines the
// descriptors of the named process. The stream belongs to the instance of the process only if the
// process is connected to the server. The kernel, not the client, reports the connection.
//
// Why this is right: a program can still claim the pid of an application that is connected to the
// server. But that application could keep itself running anyway, by playing silence. A report
// contains all streams, so the last report is sufficient. Until the examination of a process is
// complete, its streams belong to no instance. The first report of an agent waits for these
// examinations. Otherwise, phone calls and playback that the scheduler knows from an earlier agent
// or daemon would seem to end and begin again.

/// A stream as the session agent reports it.
struct ReportedAudioStream: Equatable {
  /// The number that the server gave the stream.
  var index: UInt64
  var direction: AudioStream.Direction
  var role: AudioRole
  /// The volume of the loudest channel, in units of the audio server.
  var volume: Int
  var process: ProcessIdentity
  /// Whether the pid of the process comes from the client itself, and may be wrong.
  var isClaimed: Bool
  var isRunning: Bool
  var isMuted: Bool
  var isSilent: Bool
  /// The number of the record in which the server stores the mute and the volume of the stream; 0
  /// if there is no record.
  var memory: UInt32 = 0

  func id(of server: ReportedAudioServer) -> AudioStreamID {
    AudioStreamID(server: server.generation, direction, index: index)
  }
}

/// A running audio server.
struct ReportedAudioServer: Equatable {
  /// The path to which the server's socket is bound.
  var path: String
  var generation: UInt64
}

/// Finds the instances of the streams that session agents report, and reports the streams with
/// their instances to the scheduler.
final class AudioReports {
  private let processes: ProcessController
  private let post: (Event) -> Void
  private var sessions: [UInt32: ReportedAudio] = [:]

  private var membership: InstanceMembership { processes.membership }

  init(processes: ProcessController, post: @escaping (Event) -> Void) {
    self.processes = processes
    self.post = post
    membership.observe { [weak self] in self?.instanceAdded($0) }
  }

  /// Handles a report of all streams of a user's audio server.
  ///
  /// - Parameters:
  ///   - managesRoles: Whether the server itself lowers or pauses streams, according to their
  ///     roles.
  ///   - confirmed: The number of the last order `confirm` that this report or an earlier one
  ///     answers.
  func report(
    _ streams: [ReportedAudioStream], of server: ReportedAudioServer?, managesRoles: Bool,
    confirmed: UInt64, uid: UInt32
  ) {
    let session = sessions[uid] ?? ReportedAudio()
    sessions[uid] = session
    session.take(streams, of: server, managesRoles: managesRoles, confirmed: confirmed)
    resolve(session, of: uid, atOnce: true)
  }

  /// Discards the report of a user, because the agent is gone.
  func lose(_ uid: UInt32) {
    guard let session = sessions.removeValue(forKey: uid) else { return }
    session.work?.cancel()
    for scan in session.scans.values { processes.descriptorScans.cancel(scan) }
    if session.isReporting { post(.session(.audioLost(UserID(uid)))) }
  }

  /// Records that the scheduler knows the streams of a user from an earlier daemon.
  func restore(_ uid: UInt32) {
    let session = ReportedAudio()
    session.isReporting = true
    sessions[uid] = session
  }

  /// Examines the streams of the last report again. A stream may belong to the new instance.
  private func instanceAdded(_ instance: InstanceProcesses) {
    guard let session = sessions[instance.uid], session.hasReport else { return }
    resolve(session, of: instance.uid, atOnce: false)
  }

  // MARK: Steps

  private func resolve(_ session: ReportedAudio, of uid: UInt32, atOnce: Bool) {
    session.processes.begin(in: membership)
    guard session.work?.isUnderWay != true else { return }
    if !session.processes.isPending { return finish(session, of: uid) }
    session.work = processes.steps.begin(.first, user: uid, atOnce: atOnce) {
      [weak self, weak session] in
      guard let self, let session else { return false }
      session.processes.examineNext(of: uid, in: membership)
      if session.processes.isPending { return true }
      finish(session, of: uid)
      return false
    }
  }

  private func finish(_ session: ReportedAudio, of uid: UInt32) {
    for process in session.unprovenProcesses() { examine(process, session, of: uid) }
    guard session.isComplete() else { return }
    let snapshot = session.snapshot()
    if session.last != snapshot || !session.isReporting {
      session.last = snapshot
      session.isReporting = true
      post(.session(.audio(UserID(uid), snapshot)))
    }
  }

  /// Examines on a thread whether a process is connected to the audio server.
  private func examine(_ process: ProcessIdentity, _ session: ReportedAudio, of uid: UInt32) {
    guard let server = session.server, session.scans[process] == nil else { return }
    var scan = DescriptorScan(of: [process])
    scan.isServer = { $0 == server.path }
    scan.provesConnections = true
    let examined = session.claims(of: process)
    session.scans[process] = processes.descriptorScans.request(scan, user: uid) {
      [weak self, weak session] findings in
      guard let self, let session else { return }
      session.scans[process] = nil
      session.awaited?.remove(process)
      guard session.server == server else { return finish(session, of: uid) }
      session.proofs[process] =
        findings.servers.contains(server.path) ? .connected : .unconnected(examined)
      finish(session, of: uid)
    }
  }
}

/// The last report about the audio server of one user, and the instances found so far.
final class ReportedAudio {
  /// The result of the examination of a process's connections.
  enum Proof {
    /// The process is connected to the server.
    case connected
    /// The process was not connected to the server when it had these streams.
    case unconnected(Set<AudioStreamID>)
  }

  private(set) var hasReport = false
  private(set) var server: ReportedAudioServer?
  private var managesRoles = false
  private var confirmed: UInt64 = 0
  private var streams: [ReportedAudioStream] = []
  /// The processes of the last report, and their instances.
  var processes = ReportedProcesses()
  /// The results of the examinations of processes whose pids clients have claimed.
  var proofs: [ProcessIdentity: Proof] = [:]
  var work: ProcessWorkQueue.Work?
  /// The examinations in progress.
  var scans: [ProcessIdentity: DescriptorScans.RequestedScan] = [:]
  /// The processes in ``scans`` for which the first report to the scheduler waits; nil before the
  /// daemon has determined them.
  var awaited: Set<ProcessIdentity>?
  /// Whether this daemon or an earlier one has sent the scheduler a report about this user.
  var isReporting = false
  /// The last report to the scheduler.
  var last: AudioSnapshot?

  func take(
    _ streams: [ReportedAudioStream], of server: ReportedAudioServer?, managesRoles: Bool,
    confirmed: UInt64
  ) {
    if self.server != server { proofs = [:] }
    self.server = server
    self.managesRoles = managesRoles
    self.confirmed = confirmed
    self.streams = streams
    hasReport = true
    let reported = Set(streams.map(\.process))
    processes.take(reported)
    proofs = proofs.filter { reported.contains($0.key) }
  }

  /// Returns whether enough is known for a report to the scheduler. Processes that appear after the
  /// first report of the agent cannot delay the report to the scheduler.
  func isComplete() -> Bool {
    let awaited = awaited ?? Set(scans.keys)
    self.awaited = awaited
    return awaited.isEmpty
  }

  /// Returns the streams whose clients have claimed the pid of the given process.
  func claims(of process: ProcessIdentity) -> Set<AudioStreamID> {
    guard let server else { return [] }
    return Set(
      streams.lazy.filter { $0.isClaimed && $0.process == process }.map { $0.id(of: server) })
  }

  /// Returns the processes whose connections the daemon must still examine: the processes belong to
  /// instances, and clients have claimed their pids.
  func unprovenProcesses() -> [ProcessIdentity] {
    let claimed = Set(streams.lazy.filter(\.isClaimed).map(\.process))
    return claimed.filter { process in
      guard processes.instance(of: process) != nil else { return false }
      switch proofs[process] {
      case .connected: return false
      case .unconnected(let examined): return !claims(of: process).isSubset(of: examined)
      case nil: return true
      }
    }
  }

  /// Returns the streams with their instances. If a client has claimed the pid, and the process is
  /// not known to be connected to the server, the stream belongs to no instance.
  func snapshot() -> AudioSnapshot {
    guard let server else { return AudioSnapshot(confirmed: confirmed) }
    return AudioSnapshot(
      streams.map { stream in
        var isProven = !stream.isClaimed
        if case .connected = proofs[stream.process] { isProven = true }
        return AudioStream(
          stream.id(of: server), of: isProven ? processes.instance(of: stream.process) : nil,
          role: stream.role, volume: stream.volume, isRunning: stream.isRunning,
          isMuted: stream.isMuted, isSilent: stream.isSilent, memory: stream.memory)
      }, managesRoles: managesRoles, confirmed: confirmed)
  }
}
