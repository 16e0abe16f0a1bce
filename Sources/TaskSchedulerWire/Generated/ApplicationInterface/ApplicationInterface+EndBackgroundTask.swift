// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Ends a background task.
  ///
  /// The daemon may suspend the caller after the end of the last task, if nothing else entitles the
  /// application to run. It sends the reply before it suspends the application. The caller may read
  /// the reply only after the application is resumed.
  public enum EndBackgroundTask: InterfaceMethod {
    public static let name = "org.taskschedd.Application.EndBackgroundTask"

    public struct Input: WireStructure {
      public var task: Int

      public static let fieldNames = ["task"]

      public init(task: Int) {
        self.task = task
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        task = try fields.required("task")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "task", task)
      }
    }

    public typealias Output = NoFields
  }
}
