/// The parts of the daemon that carry out the scheduler's effects.
struct Subsystems {
  let processes: ProcessController
  let launcher: Launcher
  let launches: Launches
  let requests: Requests
  let streams: EventStreams
  let monitors: Monitors
  let agents: SessionAgents
  let sockets: ManagedSockets
  let pictures: SnapshotPictures
  let notifications: LocalNotifications
  let memory: MemoryService
  let loginSessions: LoginSessions
  let location: MachineLocation
  let store: DescriptorStore
}
