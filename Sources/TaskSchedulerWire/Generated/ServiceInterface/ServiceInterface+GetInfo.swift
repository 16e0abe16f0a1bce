// Generated from org.varlink.service.varlink by 'make interfaces'; not to be edited.

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
