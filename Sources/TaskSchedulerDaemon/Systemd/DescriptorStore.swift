import CSystemd
import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// systemd's file descriptor store. The next daemon receives the stored descriptors, even after a
/// crash of this daemon.
struct DescriptorStore {
  private static let connectionName = "connection"
  private static let leaderPrefix = "leader-"
  private static let socketPrefix = "socket-"
  private static let picturePrefix = "snapshot-"
  private static let slowToCloseName = "slow-to-close"
  /// FileDescriptorName= of taskschedd-network.socket.
  private static let networkName = "network"

  /// Whether a service manager started the daemon, and provides a store.
  let isThere = getenv("NOTIFY_SOCKET") != nil && getenv("INVOCATION_ID") != nil

  /// Stores a client's connection. systemd removes the connection when the client closes it, or
  /// when both directions are shut down.
  func save(connection number: Int32) {
    send("FDSTORE=1\nFDNAME=\(Self.connectionName)", number)
  }

  /// Stores a leader's pidfd, which reports the exit status. systemd keeps the pidfd until the
  /// daemon removes it, although the pidfd hangs up when the process has been reaped.
  func save(leader number: Int32, of id: InstanceID) {
    send("FDSTORE=1\nFDPOLL=0\nFDNAME=\(Self.leaderPrefix)\(id.number)", number)
  }

  func removeLeader(of id: InstanceID) {
    remove(Self.leaderPrefix + String(id.number))
  }

  /// Stores the watch of a managed socket until the daemon removes it. The watch does not keep the
  /// connection open.
  func save(socket: UInt64, of id: InstanceID, watch number: Int32) {
    send("FDSTORE=1\nFDPOLL=0\nFDNAME=\(Self.name(of: socket, id))", number)
  }

  func remove(socket: UInt64, of id: InstanceID) {
    remove(Self.name(of: socket, id))
  }

  /// Stores a picture of the application switcher until the daemon removes it.
  func save(picture id: SnapshotID, file number: Int32) {
    send("FDSTORE=1\nFDPOLL=0\nFDNAME=\(Self.picturePrefix)\(id.number)", number)
  }

  func remove(picture id: SnapshotID) {
    remove(Self.picturePrefix + String(id.number))
  }

  /// Stores descriptors that take 10 to 20 ms each to close. Replaces the descriptors that an
  /// earlier call stored.
  ///
  /// When the last copy of an inotify descriptor or of a pressure trigger is closed, the kernel
  /// waits until all CPUs have passed a quiescent state (RCU). If systemd had no copy, the kernel
  /// would report the end of the daemon only after that wait.
  func save(slowToClose numbers: [Int32]) {
    remove(Self.slowToCloseName)
    for number in numbers { send("FDSTORE=1\nFDPOLL=0\nFDNAME=\(Self.slowToCloseName)", number) }
  }

  private static func name(of socket: UInt64, _ id: InstanceID) -> String {
    "\(socketPrefix)\(id.number)-\(socket)"
  }

  private func remove(_ name: String) {
    guard isThere else { return }
    sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
  }

  private func send(_ state: String, _ number: Int32) {
    guard isThere else { return }
    var number = number
    // If this fails, the next daemon does not receive the descriptor. After a crash, a client would
    // then find its connection closed.
    sd_pid_notify_with_fds(0, 0, state, &number, 1)
  }

  /// The descriptors that systemd passes to a starting daemon.
  struct Inherited {
    /// The listening sockets. The caller takes them over or closes them.
    var listeners: [Int32] = []
    var network = NetworkSockets()
    var connections: [Int32] = []
    var leaders: [InstanceID: Int32] = [:]
    /// Watches of managed sockets, by instance and by the cookie of the socket.
    var sockets: [InstanceID: [UInt64: Int32]] = [:]
    /// The pictures of the application switcher.
    var pictures: [SnapshotID: Int32] = [:]
    /// The inotify descriptors and pressure triggers of the previous daemon. This daemon only
    /// closes them.
    var slowToClose: [Int32] = []

    var isEmpty: Bool { connections.isEmpty && leaders.isEmpty }

    /// Takes the descriptors. Call it only once.
    init() throws(SystemError) {
      var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
      let count = sd_listen_fds_with_names(1, &names)
      try check("sd_listen_fds_with_names", count)
      for index in 0..<Int(count) {
        let number = SD_LISTEN_FDS_START + Int32(index)
        let name = names?[index].map { String(cString: $0) } ?? ""
        free(names?[index])
        add(number, name)
      }
      free(names)
    }

    private mutating func add(_ number: Int32, _ name: String) {
      if name == connectionName {
        connections.append(number)
      } else if name.hasPrefix(leaderPrefix),
        let id = UInt64(name.dropFirst(leaderPrefix.count)) {
        if let twice = leaders.updateValue(number, forKey: InstanceID(id)) { close(twice) }
      } else if name.hasPrefix(socketPrefix),
        let (id, socket) = Self.socket(name.dropFirst(socketPrefix.count)) {
        if let twice = sockets[id, default: [:]].updateValue(number, forKey: socket) {
          close(twice)
        }
      } else if name.hasPrefix(picturePrefix),
        let id = UInt64(name.dropFirst(picturePrefix.count)) {
        if let twice = pictures.updateValue(number, forKey: SnapshotID(id)) { close(twice) }
      } else if name == slowToCloseName {
        slowToClose.append(number)
      } else if name == networkName {
        network.add(number)
      } else {
        listeners.append(number)
      }
    }

    private static func socket(_ name: Substring) -> (InstanceID, UInt64)? {
      let parts = name.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, let id = UInt64(parts[0]), let socket = UInt64(parts[1]) else {
        return nil
      }
      return (InstanceID(id), socket)
    }
  }
}
