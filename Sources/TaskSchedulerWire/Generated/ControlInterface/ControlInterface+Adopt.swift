// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Takes a process under management: its own user's, or any user's for an operator, that the
  /// daemon may stop and end; a user's own daemon takes that user's processes only.
  /// `processFileDescriptor` is the index of a pidfd among the message's descriptors. The
  /// application starts in the foreground unless `background` is true. `backgroundTask` begins one
  /// task of that name at once, which lasts until the program ends or the background time does.
  /// `backgroundModes` (audio, location, voip) declares modes for this instance, as a manifest
  /// would. `marker` is what the caller has put into the process's environment as
  /// TASKSCHEDD_INSTANCE, by which its descendants are known for its own. Its seat is that of its
  /// controlling terminal; see Application.seat.
  public enum Adopt: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Adopt"

    public struct Input: WireStructure {
      public var application: String
      public var processFileDescriptor: FileDescriptorIndex
      public var background: Bool?
      public var backgroundTask: String?
      public var backgroundModes: [String]?
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
