import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

// The picture that the application switcher shows (contract §19).

extension ApplicationService {
  func setSnapshot(_ input: Interface.SetSnapshot.Input, _ connection: Connection) throws {
    let bytes = try input.snapshotFileDescriptor.map { try Self.picture($0, connection) }
    let instance = try registered(connection)
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    var snapshot: Snapshot?
    if input.sensitive == true {
      snapshot = .sensitive
    } else if let bytes {
      snapshot = .picture(try keep(bytes))
    }
    let request = requests.open(connection, application: instance.name)
    post(.switcher(.setSnapshot(request, instance.id, snapshot)))
  }

  /// Keeps a picture under the number of the next request.
  ///
  /// The picture must be kept before the event is stored, because the next daemon must have every
  /// picture that the event log names.
  private func keep(_ bytes: [UInt8]) throws -> SnapshotID {
    let id = SnapshotID(requests.numberLast + 1)
    do throws(SystemError) {
      try pictures.keep(bytes, as: id)
    } catch {
      throw Interface.Failure.notStored(reason: "\(error)")
    }
    return id
  }

  /// Returns the picture that came with the call.
  private static func picture(
    _ index: FileDescriptorIndex, _ connection: Connection
  ) throws -> [UInt8] {
    let parameter = "snapshotFileDescriptor"
    guard let descriptor = connection.take(index) else {
      throw ParameterError(parameter: parameter, problem: "the call has no such descriptor")
    }
    do throws(SnapshotRefusal) {
      return try SnapshotPictures.content(of: descriptor)
    } catch {
      throw Interface.Failure.invalidSnapshot(parameter: parameter, reason: "it is \(error)")
    }
  }
}
