extension SwitcherEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("setSnapshot", Self.setSnapshot), Case("remove", Self.remove), Case("lost", Self.lost),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .setSnapshot(let a, let b, let c): writer.write(case: 0, a, b, c)
    case .remove(let a, let b, let c): writer.write(case: 1, a, b, c)
    case .lost(let a): writer.write(case: 2, a)
    }
  }
}

extension Snapshot: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("picture", Self.picture), Case("sensitive", Self.sensitive),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .picture(let a): writer.write(case: 0, a)
    case .sensitive: writer.write(case: 1)
    }
  }
}

/// Counts are not stored, because they follow from the snapshots.
extension Snapshots: StoredByForm {
  static let form = Form(derived: Snapshots.init(_:), \.byApplication)
}
