// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Makes a running process an instance of an application, in the foreground unless `background`
  /// is true. Its seat is that of its controlling terminal; see Application.seat.
  ///
  /// Users may adopt their own processes, and operators those of every user. A user's own daemon
  /// manages only processes of that user.
  public enum Adopt: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Adopt"

    public struct Input: WireStructure {
      public var application: String
      /// A pidfd of the process.
      public var processFileDescriptor: FileDescriptorIndex
      public var background: Bool?
      /// The name of a background task that begins at once. It lasts until the process exits or the
      /// background time is over.
      public var backgroundTask: String?
      /// The background modes of this instance: audio, location, voip.
      public var backgroundModes: [String]?
      /// The value of TASKSCHEDD_INSTANCE in the environment of the process. The daemon recognizes
      /// the descendants of the process by it.
      public var marker: String?

      public static let fieldNames = [
        "application", "processFileDescriptor", "background", "backgroundTask", "backgroundModes",
        "marker",
      ]

      public init(
        application: String, processFileDescriptor: FileDescriptorIndex, background: Bool? = nil,
        backgroundTask: String? = nil, backgroundModes: [String]? = nil, marker: String? = nil
      ) {
        self.application = application
        self.processFileDescriptor = processFileDescriptor
        self.background = background
        self.backgroundTask = backgroundTask
        self.backgroundModes = backgroundModes
        self.marker = marker
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        processFileDescriptor = try fields.required("processFileDescriptor")
        background = try fields.optional("background")
        backgroundTask = try fields.optional("backgroundTask")
        backgroundModes = try fields.optional("backgroundModes")
        marker = try fields.optional("marker")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "processFileDescriptor", processFileDescriptor)
        object.append(field: "background", background)
        object.append(field: "backgroundTask", backgroundTask)
        object.append(field: "backgroundModes", backgroundModes)
        object.append(field: "marker", marker)
      }
    }

    public struct Output: WireStructure {
      public var instance: Int

      public static let fieldNames = ["instance"]

      public init(instance: Int) {
        self.instance = instance
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        instance = try fields.required("instance")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "instance", instance)
      }
    }
  }
}
