// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Returns the effective settings. Each of `warnings` is a sentence about a setting that is valid
  /// but probably a mistake, such as an operators' group that does not exist.
  public enum GetSettings: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetSettings"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var settings: [Setting]
      public var warnings: [String]

      public static let fieldNames = ["settings", "warnings"]

      public init(settings: [Setting], warnings: [String]) {
        self.settings = settings
        self.warnings = warnings
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        settings = try fields.required("settings")
        warnings = try fields.required("warnings")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "settings", settings)
        object.append(field: "warnings", warnings)
      }
    }
  }
}
