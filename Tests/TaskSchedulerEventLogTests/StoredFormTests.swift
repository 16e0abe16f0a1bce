import FoundationEssentials
import TaskSchedulerCore
import Testing

@testable import TaskSchedulerEventLog

/// The names of the fields of a struct, or of the cases of an enum, as the compiler wrote them into
/// the program.
private func declaredNames(of type: Any.Type) -> [String] {
  // The second word of a type's metadata points to its context descriptor. Its word at byte 16 is
  // the distance to the field descriptor: a header of 16 bytes, the last word of which is the
  // count, and 12 bytes for each field, the last word of which is the distance to the name.
  func relative(_ place: UnsafeRawPointer) -> UnsafeRawPointer {
    place + Int(place.load(as: Int32.self))
  }
  let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
  let context = metadata.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
  let fields = relative(context + 16)
  let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
  return (0..<count).map { index in
    let name = relative(fields + 16 + 12 * index + 8)
    return String(cString: name.assumingMemoryBound(to: CChar.self))
  }
}

private func parts<Value: StoredByForm>(_ type: Value.Type) -> StoredParts { Value.form.parts }

/// `[InstanceID: PendingLaunch]`, `UInt64?`, `Memory.Phase`.
private func name(_ type: any Stored.Type) -> String {
  guard let container = type as? any StoredContainer.Type else {
    return String(reflecting: type).split(separator: ".").dropFirst().joined(separator: ".")
  }
  let elements = container.elements.map { name($0) }
  if elements.count == 2 { return "[\(elements[0]): \(elements[1])]" }
  return "\(type)".hasPrefix("Optional") ? "\(elements[0])?" : "[\(elements[0])]"
}

@Suite("The forms of stored types are complete and documented")
struct StoredFormTests {
  /// The types that an event log begins with or consists of, and all that they contain.
  private static let types: [any StoredByForm.Type] = {
    var found: [any StoredByForm.Type] = []
    var seen: Set<ObjectIdentifier> = []
    func add(_ type: any Stored.Type) {
      guard seen.insert(ObjectIdentifier(type)).inserted else { return }
      if let container = type as? any StoredContainer.Type { container.elements.forEach(add) }
      guard let type = type as? any StoredByForm.Type else { return }
      found.append(type)
      switch parts(type) {
      case .fields(let types), .derived(let types): types.forEach(add)
      case .cases(let cases): cases.flatMap(\.payload).forEach(add)
      }
    }
    let roots: [any Stored.Type] = [
      EventLogStart.self, Holdings.self, Scheduler.self, Event.self, Note.self,
    ]
    roots.forEach(add)
    return found
  }()

  @Test("A form has every field and every case of its type", arguments: types.indices)
  func complete(index: Int) {
    let type = Self.types[index]
    switch parts(type) {
    case .fields(let types): #expect(types.count == declaredNames(of: type).count, "\(type)")
    case .cases(let cases):
      #expect(cases.map(\.name).sorted() == declaredNames(of: type).sorted(), "\(type)")
    case .derived: break
    }
  }

  @Test("docs/event-log.md lists every stored type with its form")
  func documented() throws {
    let rows = Self.types.map { type in
      let content =
        switch parts(type) {
        case .fields(let types):
          zip(declaredNames(of: type), types).map { "`\($0)`: \(name($1))" }
        case .derived(let types): types.map { name($0) }
        case .cases(let cases):
          cases.enumerated().map { number, item in
            let payload = item.payload.map { name($0) }.joined(separator: ", ")
            return "\(number) `\(item.name)`" + (payload.isEmpty ? "" : ": \(payload)")
          }
        }
      return "| \(name(type)) | \(content.joined(separator: "; ")) |"
    }
    let table = rows.sorted().joined(separator: "\n")
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let document = try String(contentsOfFile: "/\(root)/docs/event-log.md", encoding: .utf8)
    #expect(document.contains(table), "the table should be\n\(table)")
  }
}
