// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// An interruption of the application's audio begins or ends. The cause of the interruption is a
  /// phone call, or another application that began to play. The application must pause its audio
  /// when the interruption begins. The application runs for EventTime (10 s by default). If the
  /// application acknowledges the event by `id`, the daemon can suspend the application earlier.
  public struct AudioInterruption: WireStructure {
    public var id: Int
    /// True when the interruption begins, false when it ends.
    public var began: Bool
    /// Whether the application may play again. True if a phone call was the last cause of the
    /// interruption, false if another application was the last cause. Set only when the
    /// interruption ends.
    public var shouldResume: Bool?

    public static let fieldNames = ["id", "began", "shouldResume"]

    public init(id: Int, began: Bool, shouldResume: Bool? = nil) {
      self.id = id
      self.began = began
      self.shouldResume = shouldResume
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      began = try fields.required("began")
      shouldResume = try fields.optional("shouldResume")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "began", began)
      object.append(field: "shouldResume", shouldResume)
    }
  }
}
