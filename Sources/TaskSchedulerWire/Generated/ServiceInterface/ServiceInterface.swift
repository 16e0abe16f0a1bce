// Generated from org.varlink.service.varlink by 'make interfaces'; not to be edited.

/// The interface that every Varlink service has. It describes the service and its interfaces.
public enum ServiceInterface {
  public static let name = "org.varlink.service"

  /// What the `.varlink` file declares; its text is what introspection serves.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_varlink_service_varlink)

  /// The types of the methods.
  public static let methods: [any InterfaceMethod.Type] = [
    GetInfo.self, GetInterfaceDescription.self,
  ]

  /// The full names of the methods, to tell a call by.
  public enum MethodName: String, CaseIterable, Sendable {
    case getInfo = "org.varlink.service.GetInfo"
    case getInterfaceDescription = "org.varlink.service.GetInterfaceDescription"
  }
}
