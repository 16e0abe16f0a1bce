/// What a service says about itself and the methods that it takes calls of.
///
/// It is a class for its one copy is shared by all connections.
public final class Service: Sendable {
  public let vendor: String
  public let product: String
  public let version: String
  public let url: String
  /// `org.varlink.service` first, then those of the service itself.
  public let interfaces: [InterfaceDescription]
  /// The full names of all methods, by their length. To compare a few names is faster than to hash
  /// one, which each call would do.
  private let methods: [Int: [String]]

  /// `interfaces` are those of the service itself; `org.varlink.service` comes by itself.
  public init(
    vendor: String, product: String, version: String, url: String,
    interfaces: [InterfaceDescription]
  ) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
    self.interfaces = [ServiceInterface.description] + interfaces
    let names = self.interfaces.flatMap { interface in
      interface.methods.map { "\(interface.name).\($0.name)" }
    }
    methods = Dictionary(grouping: names, by: \.utf8.count)
  }

  /// Why a call of that method cannot be answered; nil if it can.
  func refusal(of method: String) -> StandardFailure? {
    if methods[method.utf8.count]?.contains(method) == true { return nil }
    guard let dot = method.lastIndex(of: ".") else { return .methodNotFound(method: method) }
    let interface = String(method[..<dot])
    if interfaces.contains(where: { $0.name == interface }) {
      return .methodNotFound(method: method)
    }
    return .interfaceNotFound(interface: interface)
  }

  // MARK: - org.varlink.service

  var info: ServiceInterface.GetInfo.Output {
    .init(
      vendor: vendor, product: product, version: version, url: url,
      interfaces: interfaces.map(\.name))
  }

  func text(
    of interface: String
  ) throws(StandardFailure) -> ServiceInterface.GetInterfaceDescription.Output {
    guard let description = interfaces.first(where: { $0.name == interface }) else {
      throw .interfaceNotFound(interface: interface)
    }
    return .init(description: description.text)
  }
}

/// The errors of `org.varlink.service`, which every service may answer any call with.
public typealias StandardFailure = ServiceInterface.Failure

extension ParameterError: MethodFailure {
  /// What the peer is told.
  public var failure: StandardFailure { .invalidParameter(parameter: parameter) }
  public var name: String { failure.name }
  public var parameters: JSONValue { failure.parameters }
}
