// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The rule of the background that an application was killed for.
  /// - `excessiveUse`: it used `processorUSec` of processors within `withinUSec`, and might have
  ///   used `sharePercent` of one processor; `throttled` is true where that was the throttle, false
  ///   where it had been throttled before
  /// - `gpuInBackground`: it used GPUs for `gpuUSec`
  /// - `sharedResourceHeld`: it held a lock or a lease on `path` when it was suspended
  public struct BrokenRule: WireStructure {
    public var processorUSec: Int?
    public var withinUSec: Int?
    public var sharePercent: Int?
    public var throttled: Bool?
    public var gpuUSec: Int?
    public var path: String?

    public static let fieldNames = [
      "processorUSec", "withinUSec", "sharePercent", "throttled", "gpuUSec", "path",
    ]

    public init(
      processorUSec: Int? = nil, withinUSec: Int? = nil, sharePercent: Int? = nil,
      throttled: Bool? = nil, gpuUSec: Int? = nil, path: String? = nil
    ) {
      self.processorUSec = processorUSec
      self.withinUSec = withinUSec
      self.sharePercent = sharePercent
      self.throttled = throttled
      self.gpuUSec = gpuUSec
      self.path = path
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      processorUSec = try fields.optional("processorUSec")
      withinUSec = try fields.optional("withinUSec")
      sharePercent = try fields.optional("sharePercent")
      throttled = try fields.optional("throttled")
      gpuUSec = try fields.optional("gpuUSec")
      path = try fields.optional("path")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "processorUSec", processorUSec)
      object.append(field: "withinUSec", withinUSec)
      object.append(field: "sharePercent", sharePercent)
      object.append(field: "throttled", throttled)
      object.append(field: "gpuUSec", gpuUSec)
      object.append(field: "path", path)
    }
  }
}
