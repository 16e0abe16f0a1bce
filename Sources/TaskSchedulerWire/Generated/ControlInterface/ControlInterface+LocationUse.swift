// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// How an application uses the location, whether or not the application runs.
  public struct LocationUse: WireStructure {
    public var application: String
    public var owner: Int
    /// Whether the application may learn the location now. The settings decide first, then the
    /// manifest, and then the user or an operator.
    public var authorization: LocationAuthorization
    /// Why the location is denied; null if it is not denied. `manifest`: the manifest names none of
    /// the used services.
    public var denial: LocationDenial?
    /// null if no continuous updates run.
    public var updates: LocationUpdates?
    public var monitorsSignificantChanges: Bool
    /// The regions in the order of their identifiers.
    public var regions: [RegionUse]
    /// The last time at which the daemon told the application a location, a significant change or a
    /// crossing; null if that has not happened since the machine started.
    public var lastUsedUSec: Int?

    public static let fieldNames = [
      "application", "owner", "authorization", "denial", "updates", "monitorsSignificantChanges",
      "regions", "lastUsedUSec",
    ]

    public init(
      application: String, owner: Int, authorization: LocationAuthorization,
      denial: LocationDenial? = nil, updates: LocationUpdates? = nil,
      monitorsSignificantChanges: Bool, regions: [RegionUse], lastUsedUSec: Int? = nil
    ) {
      self.application = application
      self.owner = owner
      self.authorization = authorization
      self.denial = denial
      self.updates = updates
      self.monitorsSignificantChanges = monitorsSignificantChanges
      self.regions = regions
      self.lastUsedUSec = lastUsedUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.required("application")
      owner = try fields.required("owner")
      authorization = try fields.required("authorization")
      denial = try fields.optional("denial")
      updates = try fields.optional("updates")
      monitorsSignificantChanges = try fields.required("monitorsSignificantChanges")
      regions = try fields.required("regions")
      lastUsedUSec = try fields.optional("lastUsedUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "owner", owner)
      object.append(field: "authorization", authorization)
      object.append(field: "denial", denial)
      object.append(field: "updates", updates)
      object.append(field: "monitorsSignificantChanges", monitorsSignificantChanges)
      object.append(field: "regions", regions)
      object.append(field: "lastUsedUSec", lastUsedUSec)
    }
  }
}
