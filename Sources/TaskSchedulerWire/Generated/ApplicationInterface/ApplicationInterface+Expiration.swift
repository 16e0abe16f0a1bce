// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The expiration handler of a task is to be called: end the task now. At the limit an
  /// application that still has one outstanding is killed rather than suspended. It comes once in
  /// each stint in the background: a task that is carried over into a later stint expires there
  /// again.
  public struct Expiration: WireStructure {
    public var task: Int
    public var backgroundTimeRemainingUSec: Int?

    public static let fieldNames = ["task", "backgroundTimeRemainingUSec"]

    public init(task: Int, backgroundTimeRemainingUSec: Int? = nil) {
      self.task = task
      self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      task = try fields.required("task")
      backgroundTimeRemainingUSec = try fields.optional("backgroundTimeRemainingUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "task", task)
      object.append(field: "backgroundTimeRemainingUSec", backgroundTimeRemainingUSec)
    }
  }
}
