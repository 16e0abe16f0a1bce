// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Begins a background task. The application must end each task with EndBackgroundTask. taskctl
  /// and the log show the name. It has at most 256 bytes and no control characters.
  public enum BeginBackgroundTask: InterfaceMethod {
    public static let name = "org.taskschedd.Application.BeginBackgroundTask"

    public struct Input: WireStructure {
      public var name: String?

      public static let fieldNames = ["name"]

      public init(name: String? = nil) {
        self.name = name
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        name = try fields.optional("name")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "name", name)
      }
    }

    public struct Output: WireStructure {
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
}
