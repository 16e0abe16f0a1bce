// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Returns the state of the machine's memory, and the memory use of the applications that the
  /// caller may see. Their order is the order in which the daemon would terminate them.
  public enum GetMemory: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetMemory"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var phase: MemoryPhase
      /// When the daemon last detected memory pressure; null if never.
      public var pressedAtUSec: Int?
      /// What the daemon monitors for memory pressure: machine, slice.
      public var heard: [String]
      /// The available memory, in bytes.
      public var available: Int
      /// The machine's memory, in bytes.
      public var total: Int
      /// The daemon terminates applications when less than this percentage of the memory is
      /// available.
      public var floorPercent: Int
      public var applications: [MemoryUse]

      public static let fieldNames = [
        "phase", "pressedAtUSec", "heard", "available", "total", "floorPercent", "applications",
      ]

      public init(
        phase: MemoryPhase, pressedAtUSec: Int? = nil, heard: [String], available: Int, total: Int,
        floorPercent: Int, applications: [MemoryUse]
      ) {
        self.phase = phase
        self.pressedAtUSec = pressedAtUSec
        self.heard = heard
        self.available = available
        self.total = total
        self.floorPercent = floorPercent
        self.applications = applications
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        phase = try fields.required("phase")
        pressedAtUSec = try fields.optional("pressedAtUSec")
        heard = try fields.required("heard")
        available = try fields.required("available")
        total = try fields.required("total")
        floorPercent = try fields.required("floorPercent")
        applications = try fields.required("applications")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "phase", phase)
        object.append(field: "pressedAtUSec", pressedAtUSec)
        object.append(field: "heard", heard)
        object.append(field: "available", available)
        object.append(field: "total", total)
        object.append(field: "floorPercent", floorPercent)
        object.append(field: "applications", applications)
      }
    }
  }
}
