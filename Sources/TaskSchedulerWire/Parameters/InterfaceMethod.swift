/// A method of an interface, with the Swift types of what goes in and comes out.
public protocol InterfaceMethod: SendableMetatype {
  associatedtype Input: WireStructure
  associatedtype Output: WireStructure
  /// The full name, as `org.taskschedd.Application.Register`.
  static var name: String { get }
}
