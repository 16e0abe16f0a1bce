// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// How the machine's memory stands, and what the applications use that the caller may see, in the
  /// order in which they would be ended.
  public enum GetMemory: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetMemory"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var phase: MemoryPhase
      /// When pressure was last heard of; null is never.
      public var pressedAtUSec: Int?
      /// Whose pressure is heard of: machine, slice.
      public var heard: [String]
      public var available: Int
      public var total: Int
      /// The part of the total below which applications are ended, in hundredths.
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
