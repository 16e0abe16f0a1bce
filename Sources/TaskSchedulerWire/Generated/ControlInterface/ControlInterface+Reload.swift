// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Reads the configuration and the manifests again. If they have a mistake, the previous ones
  /// stay in force, and InvalidConfiguration lists each mistake.
  public enum Reload: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Reload"

    public typealias Input = NoFields

    public typealias Output = NoFields
  }
}
