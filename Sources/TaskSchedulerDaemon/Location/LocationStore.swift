import TaskSchedulerCore

/// The store of the durable part of the location services: the regions and significant changes that
/// applications monitor, and the decisions whether applications may learn the location
/// (contract §17).
final class LocationStore: WritableStore {
  /// A change of the stored data about one application.
  struct Change: Equatable, Sendable {
    var application: ApplicationKey
    var change: LocationChange

    init(_ change: LocationChange, of application: ApplicationKey) {
      self.application = application
      self.change = change
    }
  }

  private let file: StoreFile<LocationSchema>
  var path: String { file.path }
  var database: Database { file.database }
  /// The new path of a damaged file, and the number of regions and applications recovered from it;
  /// nil if the file was not damaged.
  var setAside: (path: String, salvagedCount: Int)? { file.setAside }

  static let contents = LocationSchema.contents

  /// Opens the file. Creates the file and its directories if necessary.
  ///
  /// Renames a damaged file to `PATH.damaged`, and replaces an earlier file with that name.
  init(path: String) throws(StoreError) { file = try StoreFile(path: path) }

  /// Writes all changes or none. The changes are durable when this function returns.
  func apply(_ changes: [Change]) throws(StoreError) {
    guard !changes.isEmpty else { return }
    try file.write(isRemoval: changes.allSatisfy(\.change.isWithdrawal)) {
      database throws(DatabaseError) in
      for one in changes { try LocationSchema.apply(one.change, of: one.application, database) }
    }
  }

  /// Checkpoints the whole write-ahead log into the database.
  func checkpoint() throws(StoreError) { try file.checkpoint() }

  /// Returns the whole contents of the store, by application.
  func contents() throws(StoreError) -> [StoredLocationServices] {
    try file.read { database throws(DatabaseError) in try LocationSchema.contents(of: database) }
  }
}

extension LocationChange {
  /// Whether the change withdraws a permission of an application or ends its monitoring. Such a
  /// change must be possible even on a full file system.
  fileprivate var isWithdrawal: Bool {
    switch self {
    case .stopMonitoring, .monitorSignificantChanges(false), .authorize(.denied, wasAsked: _),
      .authorize(.notDetermined, wasAsked: false):
      true
    case .monitor, .monitorSignificantChanges(true), .report,
      .authorize(.notDetermined, wasAsked: true), .authorize(.authorized, wasAsked: _):
      false
    }
  }
}
