/// A descriptor of a GPU device.
public struct GPUFile: Hashable, Sendable {
  public let process: ProcessIdentity
  public let number: Int32
}

/// A client of a GPU: an open device file, which many descriptors may share.
public struct GPUClient: Hashable, Sendable {
  /// The device: its address on the bus, or the name of its driver.
  public let device: String
  public let id: String

  public init(device: String, id: String) {
    self.device = device
    self.id = id
  }

  /// Parses a descriptor's fdinfo (drm-usage-stats in the kernel's documentation).
  init?(_ info: [UInt8]) {
    let lines = KeyValueLines(info)
    guard let id = lines.value("drm-client-id"),
      let device = lines.value("drm-pdev") ?? lines.value("drm-driver")
    else { return nil }
    self.init(device: device, id: id)
  }
}

/// The use of an engine of a GPU by a client. Drivers count time, cycles, or both.
public struct GPUEngine: Hashable, Sendable {
  /// `drm-engine-NAME: N ns`: the time for which the engine worked for the client.
  public var nanoseconds: UInt64?
  /// `drm-cycles-NAME: N`: the cycles for which the engine worked for the client.
  public var cycles: UInt64?
  /// `drm-total-cycles-NAME: N`: all cycles of the engine, busy or idle.
  public var totalCycles: UInt64?
  /// `drm-maxfreq-NAME: N MHz`, in Hz.
  public var frequencyMax: UInt64?

  public init() {}

  /// Parses the engines of a descriptor's fdinfo, by name.
  static func all(in info: [UInt8]) -> [String: GPUEngine] {
    var engines: [String: GPUEngine] = [:]
    for line in info.split(separator: UInt8(ascii: "\n")) where line.starts(with: "drm-".utf8) {
      let words = String(decoding: line, as: UTF8.self)
        .split(whereSeparator: { $0 == " " || $0 == "\t" })
      guard words.count >= 2, words[0].last == ":", let value = UInt64(words[1]) else { continue }
      let unit = words.count > 2 ? words[2] : ""
      let key = words[0].dropLast()
      func name(after prefix: String) -> String? {
        key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : nil
      }
      // The value of this key is a number of engines, not a time.
      if key.hasPrefix("drm-engine-capacity-") { continue }
      if let name = name(after: "drm-engine-"), unit == "ns" {
        engines[name, default: .init()].nanoseconds = value
      } else if let name = name(after: "drm-cycles-") {
        engines[name, default: .init()].cycles = value
      } else if let name = name(after: "drm-total-cycles-") {
        engines[name, default: .init()].totalCycles = value
      } else if let name = name(after: "drm-maxfreq-") {
        let (product, overflow) = value.multipliedReportingOverflow(by: hertz(unit))
        engines[name, default: .init()].frequencyMax = overflow ? nil : product
      }
    }
    return engines.filter { $0.value.nanoseconds != nil || $0.value.cycles != nil }
  }

  private static func hertz(_ unit: Substring) -> UInt64 {
    switch unit {
    case "MHz": 1_000_000
    case "KHz": 1000
    default: 1
    }
  }
}
