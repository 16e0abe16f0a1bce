// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// An order to report the locations of GeoClue, or to stop reporting them. While no daemon needs
  /// locations, the agent is not a client of GeoClue, and GeoClue need not run a receiver for the
  /// agent.
  public struct LocationOrder: WireStructure {
    /// The accuracy that the agent requests from GeoClue; null if the daemon needs no locations.
    public var accuracy: LocationAccuracy?

    public static let fieldNames = ["accuracy"]

    public init(accuracy: LocationAccuracy? = nil) {
      self.accuracy = accuracy
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      accuracy = try fields.optional("accuracy")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "accuracy", accuracy)
    }
  }
}
