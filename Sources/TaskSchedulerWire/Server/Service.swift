/// The description of a service, and its methods.
///
/// This is a class so that all connections share one copy.
public final class Service: Sendable {
  public let vendor: String
  public let product: String
  public let version: String
  public let url: String
  /// `org.varlink.service`, followed by the service's own interfaces.
  public let interfaces: [InterfaceDescription]
  /// The full names of all methods. The list at index n contains the names that are n bytes long.
  /// Comparing a name with the few names of the same length is faster than hashing it.
  private let methods: [[String]]

  /// Creates a service.
  ///
  /// - Parameter interfaces: The service's own interfaces; `org.varlink.service` is added.
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
    var methods = Array(repeating: [String](), count: 1 + (names.map(\.utf8.count).max() ?? 0))
    for name in names { methods[name.utf8.count].append(name) }
    self.methods = methods
  }

  /// Returns the error for a call of a method that the service does not have; nil if the service
  /// has the method.
  func refusal(of method: String) -> StandardFailure? {
    let length = method.utf8.count
    if length < methods.count, methods[length].contains(method) { return nil }
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

/// The errors of `org.varlink.service`, with which a service may reply to any call.
public typealias StandardFailure = ServiceInterface.Failure

extension ParameterError: MethodFailure {
  /// The error reply that the peer receives.
  public var failure: StandardFailure { .invalidParameter(parameter: parameter) }
  public var name: String { failure.name }
  public var parameters: JSONValue { failure.parameters }
}
