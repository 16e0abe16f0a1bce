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
  /// The full names of all methods.
  private let methods: Set<String>

  /// `interfaces` are those of the service itself; `org.varlink.service` comes by itself.
  public init(
    vendor: String, product: String, version: String, url: String,
    interfaces: [InterfaceDescription]
  ) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
    self.interfaces = [Self.ownInterface] + interfaces
    methods = Set(
      self.interfaces.flatMap { interface in
        interface.methods.map { "\(interface.name).\($0.name)" }
      })
  }

  /// Why a call of that method cannot be answered; nil if it can.
  func refusal(of method: String) -> StandardFailure? {
    if methods.contains(method) { return nil }
    guard let dot = method.lastIndex(of: ".") else { return .methodNotFound(method: method) }
    let interface = String(method[..<dot])
    if interfaces.contains(where: { $0.name == interface }) {
      return .methodNotFound(method: method)
    }
    return .interfaceNotFound(interface: interface)
  }

  // MARK: - org.varlink.service

  enum OwnMethod: String {
    case getInfo = "org.varlink.service.GetInfo"
    case getInterfaceDescription = "org.varlink.service.GetInterfaceDescription"
  }

  /// `GetInfo() -> (…)`.
  struct Info: Codable {
    var vendor: String
    var product: String
    var version: String
    var url: String
    var interfaces: [String]
  }

  var info: Info {
    Info(
      vendor: vendor, product: product, version: version, url: url,
      interfaces: interfaces.map(\.name))
  }

  struct NoParameters: Codable {}

  struct InterfaceName: Codable {
    var interface: String
  }

  struct InterfaceText: Codable {
    var description: String
  }

  func text(of interface: String) throws(StandardFailure) -> InterfaceText {
    guard let description = interfaces.first(where: { $0.name == interface }) else {
      throw .interfaceNotFound(interface: interface)
    }
    return InterfaceText(description: description.text)
  }

  /// The interface that every Varlink service offers.
  static let ownInterface: InterfaceDescription = {
    do {
      return try InterfaceDescription(text: ownText)
    } catch {
      fatalError("the text of org.varlink.service does not parse: \(error)")
    }
  }()

  private static let ownText = """
    # What every Varlink service says about itself and its interfaces.
    interface org.varlink.service

    # Who made the service, and the names of its interfaces.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The text of an interface, as this is one.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The service has no interface of that name.
    error InterfaceNotFound (interface: string)

    # The interface has no method of that name.
    error MethodNotFound (method: string)

    # The interface has the method, but the service does not offer it.
    error MethodNotImplemented (method: string)

    # A parameter is missing, unknown, of the wrong type or of no use.
    error InvalidParameter (parameter: string)

    # The caller may not do this.
    error PermissionDenied ()

    # The method must be called with 'more'.
    error ExpectedMore ()

    """
}
