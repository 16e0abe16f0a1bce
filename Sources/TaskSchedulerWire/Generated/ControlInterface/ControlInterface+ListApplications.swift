// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Lists the applications that the caller may see, in the order of the application switcher.
  /// Those that were never active follow in the order of their ids.
  public enum ListApplications: InterfaceMethod {
    public static let name = "org.taskschedd.Control.ListApplications"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var applications: [Application]

      public static let fieldNames = ["applications"]

      public init(applications: [Application]) {
        self.applications = applications
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        applications = try fields.required("applications")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "applications", applications)
      }
    }
  }
}
