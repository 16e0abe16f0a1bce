// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Sets the application's badge, at most 999999999; 0 removes it.
  public enum SetBadge: InterfaceMethod {
    public static let name = "org.taskschedd.Application.SetBadge"

    public struct Input: WireStructure {
      public var badge: Int

      public static let fieldNames = ["badge"]

      public init(badge: Int) {
        self.badge = badge
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        badge = try fields.required("badge")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "badge", badge)
      }
    }

    public typealias Output = NoFields
  }
}
