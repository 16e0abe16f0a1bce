/// A dictionary of large values that stores each value in a separate allocation.
///
/// The hash table of a `Dictionary` is a quarter to five eighths empty, and is copied when it
/// grows. With large values in the table, the empty entries would take up to five thirds of the
/// memory of the values. The table of this type contains references instead. The type has value
/// semantics.
struct BoxedDictionary<Key: Hashable, Value> {
  final class Box {
    fileprivate(set) var value: Value

    fileprivate init(_ value: Value) { self.value = value }
  }

  typealias Index = Dictionary<Key, Box>.Index

  /// The allocations of the values. Reading a property of `box.value` does not copy the value.
  private(set) var boxes: [Key: Box] = [:]

  var isEmpty: Bool { boxes.isEmpty }
  var count: Int { boxes.count }
  var keys: Dictionary<Key, Box>.Keys { boxes.keys }

  mutating func reserveCapacity(_ count: Int) { boxes.reserveCapacity(count) }

  func index(forKey key: Key) -> Index? { boxes.index(forKey: key) }

  /// The value of a key. Setting nil removes the value.
  subscript(key: Key) -> Value? {
    get { boxes[key]?.value }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { boxes[key] = nil }
    }
  }

  /// Sets the value of a key. Returns the value that it replaces, or nil.
  @discardableResult
  mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
    boxes.updateValue(Box(value), forKey: key)?.value
  }

  mutating func removeValue(forKey key: Key) -> Value? { boxes.removeValue(forKey: key)?.value }

  /// The values, in no particular order.
  var values: Values {
    get { Values(boxes: boxes) }
    _modify {
      var values = Values(boxes: boxes)
      boxes = [:]
      defer { boxes = values.boxes }
      yield &values
    }
  }

  struct Values: Sequence {
    fileprivate var boxes: [Key: Box]

    var underestimatedCount: Int { boxes.count }

    func makeIterator() -> Iterator { Iterator(rest: boxes.values.makeIterator()) }

    struct Iterator: IteratorProtocol {
      fileprivate var rest: Dictionary<Key, Box>.Values.Iterator

      mutating func next() -> Value? { rest.next()?.value }
    }

    /// The value at an index. A change copies the value only if another dictionary shares it.
    subscript(index: Index) -> Value {
      get { boxes.values[index].value }
      _modify {
        if !isKnownUniquelyReferenced(&boxes.values[index]) {
          boxes.values[index] = Box(boxes.values[index].value)
        }
        yield &boxes.values[index].value
      }
    }
  }
}

extension BoxedDictionary: Sequence {
  func makeIterator() -> Iterator { Iterator(rest: boxes.makeIterator()) }

  struct Iterator: IteratorProtocol {
    fileprivate var rest: Dictionary<Key, Box>.Iterator

    mutating func next() -> (key: Key, value: Value)? {
      rest.next().map { ($0.key, $0.value.value) }
    }
  }
}

extension BoxedDictionary: Equatable where Value: Equatable {
  static func == (left: Self, right: Self) -> Bool {
    left.count == right.count
      && left.boxes.allSatisfy { right.boxes[$0]?.value == $1.value }
  }
}

// `Box` is Sendable, because a box changes only while a single dictionary refers to it.
extension BoxedDictionary.Box: @unchecked Sendable where Value: Sendable {}
extension BoxedDictionary: Sendable where Key: Sendable, Value: Sendable {}
extension BoxedDictionary.Values: Sendable where Key: Sendable, Value: Sendable {}
