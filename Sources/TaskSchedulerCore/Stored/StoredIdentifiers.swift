extension InstanceID: Stored {}
extension TaskID: Stored {}
extension CallbackID: Stored {}
extension SocketID: Stored {}
extension RequestID: Stored {}
extension NotificationID: Stored {}
extension TransactionID: Stored {}
extension SnapshotID: Stored {}

extension ApplicationID: StoredByForm {
  package static let form = Form(
    { (name: String) throws(MalformedBytes) in
      guard let id = ApplicationID(name) else {
        throw MalformedBytes("\(name) is not a reverse-DNS id")
      }
      return id
    }, \.name)
}

extension UserID: StoredByForm {
  package static let form = Form(UserID.init(_:), \.uid)
}

extension ApplicationKey: StoredByForm {
  package static let form = Form(ApplicationKey.init(_:owner:), \.id, \.owner)
}

extension SeatID: StoredByForm {
  package static let form = Form(SeatID.init(_:), \.name)
}

extension Leader: StoredByForm {
  package static let form = Form(Leader.init(pid:startTime:), \.pid, \.startTime)
}

extension Instant: StoredByForm {
  package static let form = Form(Instant.init(nanoseconds:), \.nanoseconds)
}

extension WallTime: StoredByForm {
  package static let form = Form(WallTime.init(nanoseconds:), \.nanoseconds)
}

extension Signal: StoredByForm {
  package static let form = Form({ (number: Int32) in Signal(number) }, \.number)
}

extension SocketConditions: StoredByForm {
  package static let form = Form(SocketConditions.init(rawValue:), \.rawValue)
}

// Enums that are stored by name.
extension ApplicationState: Stored {}
extension LaunchTarget: Stored {}
extension LaunchReason: Stored {}
extension BackgroundMode: Stored {}
extension CallbackKind: Stored {}
extension ProcessPriority: Stored {}
extension MemoryPressure.Source: Stored {}
extension RepeatInterval: Stored {}
