// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A callback, which the application acknowledges by `id`. The daemon sends the next callback
  /// only after the acknowledgement.
  public struct Callback: WireStructure {
    public var id: Int
    public var kind: CallbackKind
    /// Set only with didFinishLaunching.
    public var launchReason: LaunchReason?

    public static let fieldNames = ["id", "kind", "launchReason"]

    public init(id: Int, kind: CallbackKind, launchReason: LaunchReason? = nil) {
      self.id = id
      self.kind = kind
      self.launchReason = launchReason
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      kind = try fields.required("kind")
      launchReason = try fields.optional("launchReason")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "kind", kind)
      object.append(field: "launchReason", launchReason)
    }
  }
}
