/// A method of an interface, with the Swift types of its input and output.
public protocol InterfaceMethod: SendableMetatype {
  associatedtype Input: WireStructure
  associatedtype Output: WireStructure
  /// The full name, such as `org.taskschedd.Application.Register`.
  static var name: String { get }
}
