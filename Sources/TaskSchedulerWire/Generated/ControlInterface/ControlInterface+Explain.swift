// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Explains why an application is in its state, what entitles it to run, and what happens next.
  public enum Explain: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Explain"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?

      public static let fieldNames = ["application", "owner"]

      public init(application: String, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
      }
    }

    public struct Output: WireStructure {
      public var application: Application
      public var explanation: Explanation

      public static let fieldNames = ["application", "explanation"]

      public init(application: Application, explanation: Explanation) {
        self.application = application
        self.explanation = explanation
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        explanation = try fields.required("explanation")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "explanation", explanation)
      }
    }
  }
}
