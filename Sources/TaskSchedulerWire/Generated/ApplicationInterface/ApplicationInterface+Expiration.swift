// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The expiration of a task. The application must call the expiration handler of the task, and
  /// the handler must end the task at once. When the background time is over, the daemon kills an
  /// application that still has an outstanding task, unless something else entitles the application
  /// to run.
  ///
  /// A task expires at most once in each stay in the background. If the task is still outstanding
  /// when the application enters the background again, it can expire again.
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
