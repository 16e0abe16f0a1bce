// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The continuous updates of a running application.
  public struct LocationUpdates: WireStructure {
    public var desiredAccuracy: LocationAccuracy
    /// The minimum distance, in meters, between two successive updates. null if each location is an
    /// update.
    public var distanceFilter: Double?

    public static let fieldNames = ["desiredAccuracy", "distanceFilter"]

    public init(desiredAccuracy: LocationAccuracy, distanceFilter: Double? = nil) {
      self.desiredAccuracy = desiredAccuracy
      self.distanceFilter = distanceFilter
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      desiredAccuracy = try fields.required("desiredAccuracy")
      distanceFilter = try fields.optional("distanceFilter")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "desiredAccuracy", desiredAccuracy)
      object.append(field: "distanceFilter", distanceFilter)
    }
  }
}
