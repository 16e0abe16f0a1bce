// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Reads the configuration and the manifests again. With any mistake in them all stays as it was,
  /// and InvalidConfiguration lists each one.
  public enum Reload: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Reload"

    public typealias Input = NoFields

    public typealias Output = NoFields
  }
}
