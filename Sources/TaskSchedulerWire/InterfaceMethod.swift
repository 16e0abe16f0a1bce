/// A method of an interface, with the Swift types of what goes in and comes out.
public protocol InterfaceMethod {
  associatedtype Input: Codable, Hashable, Sendable
  associatedtype Output: Codable, Hashable, Sendable
  /// The full name, as `org.taskschedd.Application.Register`.
  static var name: String { get }
}
