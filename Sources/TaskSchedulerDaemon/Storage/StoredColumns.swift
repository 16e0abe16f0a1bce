import TaskSchedulerCore

// The values of columns that several stores contain.

extension ApplicationKey {
  /// Reads an application from the columns of its id and its owner. Returns nil for a row that no
  /// daemon can have written.
  init?(_ row: borrowing Row, at column: Int32) {
    guard let name = row.text(column), let id = ApplicationID(name),
      let uid = row.integer(column + 1), let owner = UInt32(exactly: uid)
    else { return nil }
    self.init(id, owner: UserID(owner))
  }

  /// The values for the two columns, id and owner.
  var values: [SQLValue] { [.text(id.name), .user(owner)] }
}

extension SQLValue {
  static func user(_ user: UserID) -> Self { .integer(Int64(user.uid)) }
}
