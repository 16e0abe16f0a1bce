import TaskSchedulerWire

/// The methods of the interfaces, and the service that offers them.
enum InterfaceMethods {
  /// The types of all methods.
  static let all =
    ApplicationInterface.methods + ControlInterface.methods + SessionInterface.methods

  static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  static let service = Service(
    vendor: "taskschedd", product: "fuzz", version: "0", url: "https://taskschedd.org",
    interfaces: [
      ApplicationInterface.description, ControlInterface.description, SessionInterface.description,
    ])
}

extension ReceivedCall {
  /// Decodes parameters as the method's input.
  func decodeInput<Method: InterfaceMethod>(of method: Method.Type) throws(ParameterError) {
    _ = try decode(Method.Input.self)
  }
}
