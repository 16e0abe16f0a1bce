// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Launches the program of the application's manifest, in the foreground unless `background` is
  /// true. Replies when the program has been executed.
  ///
  /// In the foreground the application is active. When it opens its event stream, it is inactive
  /// until it has acknowledged didFinishLaunching.
  public enum Launch: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Launch"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var background: Bool?

      public static let fieldNames = ["application", "owner", "background"]

      public init(application: String, owner: Int? = nil, background: Bool? = nil) {
        self.application = application
        self.owner = owner
        self.background = background
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        background = try fields.optional("background")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "background", background)
      }
    }

    public struct Output: WireStructure {
      public var instance: Int
      public var pid: Int

      public static let fieldNames = ["instance", "pid"]

      public init(instance: Int, pid: Int) {
        self.instance = instance
        self.pid = pid
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        instance = try fields.required("instance")
        pid = try fields.required("pid")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "instance", instance)
        object.append(field: "pid", pid)
      }
    }
  }
}
