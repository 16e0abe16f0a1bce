// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Returns the state of the calling instance.
  public enum GetStatus: InterfaceMethod {
    public static let name = "org.taskschedd.Application.GetStatus"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var application: String
      public var instance: Int
      public var state: State
      /// null means unlimited (foreground).
      public var backgroundTimeRemainingUSec: Int?
      public var tasks: [BackgroundTask]

      public static let fieldNames = [
        "application", "instance", "state", "backgroundTimeRemainingUSec", "tasks",
      ]

      public init(
        application: String, instance: Int, state: State, backgroundTimeRemainingUSec: Int? = nil,
        tasks: [BackgroundTask]
      ) {
        self.application = application
        self.instance = instance
        self.state = state
        self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
        self.tasks = tasks
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        instance = try fields.required("instance")
        state = try fields.required("state")
        backgroundTimeRemainingUSec = try fields.optional("backgroundTimeRemainingUSec")
        tasks = try fields.required("tasks")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "instance", instance)
        object.append(field: "state", state)
        object.append(field: "backgroundTimeRemainingUSec", backgroundTimeRemainingUSec)
        object.append(field: "tasks", tasks)
      }
    }
  }
}
