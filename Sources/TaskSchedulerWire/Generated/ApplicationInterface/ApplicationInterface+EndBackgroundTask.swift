// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Ends a background task.
  ///
  /// The end of the last task may suspend its caller, where nothing else entitles the application
  /// to run: the reply is sent before the suspension begins, and the caller may come to read it
  /// only after the application is resumed.
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
