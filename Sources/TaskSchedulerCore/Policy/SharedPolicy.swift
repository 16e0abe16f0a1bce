/// A policy in a separate allocation, which all copies of this value share.
///
/// Almost every step of the scheduler reads the policy and passes it on. A policy is large, so a
/// copy in each step would take a noticeable part of the time for an event.
@dynamicMemberLookup
public struct SharedPolicy: Sendable {
  private final class Box: Sendable {
    let value: Policy

    init(_ value: Policy) { self.value = value }
  }

  private let box: Box

  init(_ value: Policy) { box = Box(value) }

  /// The policy itself.
  public var value: Policy { box.value }

  /// A limit of the policy.
  public subscript<Value>(dynamicMember field: KeyPath<Policy, Value>) -> Value {
    @inline(__always) get { box.value[keyPath: field] }
  }
}
