// Generated from org.varlink.service.varlink by 'make interfaces'; not to be edited.

/// The interface that every Varlink service has. It describes the service and its interfaces.
public enum ServiceInterface {
  public static let name = "org.varlink.service"

  /// The contents of the `.varlink` file. Introspection returns its text.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_varlink_service_varlink)

  /// The types of the methods.
  public static let methods: [any InterfaceMethod.Type] = [
    GetInfo.self, GetInterfaceDescription.self,
  ]

  /// The full names of the methods, which identify calls.
  public enum MethodName: String, CaseIterable, Sendable {
    case getInfo = "org.varlink.service.GetInfo"
    case getInterfaceDescription = "org.varlink.service.GetInterfaceDescription"
  }
}

extension ServiceInterface {
  /// Returns the vendor and the version of the service, and the names of its interfaces.
  public enum GetInfo: InterfaceMethod {
    public static let name = "org.varlink.service.GetInfo"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var vendor: String
      public var product: String
      public var version: String
      public var url: String
      public var interfaces: [String]

      public static let fieldNames = ["vendor", "product", "version", "url", "interfaces"]

      public init(
        vendor: String, product: String, version: String, url: String, interfaces: [String]
      ) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
        self.interfaces = interfaces
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        vendor = try fields.required("vendor")
        product = try fields.required("product")
        version = try fields.required("version")
        url = try fields.required("url")
        interfaces = try fields.required("interfaces")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "vendor", vendor)
        object.append(field: "product", product)
        object.append(field: "version", version)
        object.append(field: "url", url)
        object.append(field: "interfaces", interfaces)
      }
    }
  }
}

extension ServiceInterface {
  /// Returns the definition of an interface.
  public enum GetInterfaceDescription: InterfaceMethod {
    public static let name = "org.varlink.service.GetInterfaceDescription"

    public struct Input: WireStructure {
      public var interface: String

      public static let fieldNames = ["interface"]

      public init(interface: String) {
        self.interface = interface
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        interface = try fields.required("interface")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "interface", interface)
      }
    }

    public struct Output: WireStructure {
      public var description: String

      public static let fieldNames = ["description"]

      public init(description: String) {
        self.description = description
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        description = try fields.required("description")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "description", description)
      }
    }
  }
}
