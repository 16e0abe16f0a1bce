// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The background rule whose violation made the daemon kill an application. Only the fields of
  /// this rule are set.
  public struct BrokenRule: WireStructure {
    /// With excessiveUse: the CPU time that the application used within `withinUSec`.
    public var cpuUSec: Int?
    public var withinUSec: Int?
    /// With excessiveUse: the CPU time that the application was allowed to use, in percent of one
    /// CPU.
    public var sharePercent: Int?
    /// With excessiveUse: true if the application was throttled when it used too much; false if the
    /// daemon had lifted an earlier throttle.
    public var throttled: Bool?
    /// With gpuInBackground: the GPU time that the application used.
    public var gpuUSec: Int?
    /// With sharedResourceHeld: the file on which the application held a lock or a lease when it
    /// was suspended.
    public var path: String?

    public static let fieldNames = [
      "cpuUSec", "withinUSec", "sharePercent", "throttled", "gpuUSec", "path",
    ]

    public init(
      cpuUSec: Int? = nil, withinUSec: Int? = nil, sharePercent: Int? = nil, throttled: Bool? = nil,
      gpuUSec: Int? = nil, path: String? = nil
    ) {
      self.cpuUSec = cpuUSec
      self.withinUSec = withinUSec
      self.sharePercent = sharePercent
      self.throttled = throttled
      self.gpuUSec = gpuUSec
      self.path = path
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      cpuUSec = try fields.optional("cpuUSec")
      withinUSec = try fields.optional("withinUSec")
      sharePercent = try fields.optional("sharePercent")
      throttled = try fields.optional("throttled")
      gpuUSec = try fields.optional("gpuUSec")
      path = try fields.optional("path")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "cpuUSec", cpuUSec)
      object.append(field: "withinUSec", withinUSec)
      object.append(field: "sharePercent", sharePercent)
      object.append(field: "throttled", throttled)
      object.append(field: "gpuUSec", gpuUSec)
      object.append(field: "path", path)
    }
  }
}
