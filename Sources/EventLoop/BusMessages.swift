import CSystemd
import LinuxSystem

/// A writer of the arguments of a message, in their order.
package struct MessageBody {
  private let message: OpaquePointer

  package init(_ message: OpaquePointer) {
    self.message = message
  }

  package func append(_ text: String) throws(SystemError) { try append("s", text) }

  package func append(_ texts: [String]) throws(SystemError) {
    try array("s") { () throws(SystemError) in
      for text in texts { try append(text) }
    }
  }

  package func append(_ flag: Bool) throws(SystemError) {
    try append("b", number: Int32(flag ? 1 : 0))
  }

  package func append(_ number: Int32) throws(SystemError) { try append("i", number: number) }

  package func append(_ number: UInt32) throws(SystemError) { try append("u", number: number) }

  package func append(_ number: Int64) throws(SystemError) { try append("x", number: number) }

  package func append(_ number: Double) throws(SystemError) {
    var number = number
    let result = sd_bus_message_append_basic(message, Self.code("d"), &number)
    try check("sd_bus_message_append_basic", result)
  }

  package func append(objectPath: String) throws(SystemError) { try append("o", objectPath) }

  package func append(_ byte: UInt8) throws(SystemError) { try append("y", number: byte) }

  package func append(descriptor: Int32) throws(SystemError) {
    try append("h", number: descriptor)
  }

  package func array(_ type: String, _ body: () throws(SystemError) -> Void) throws(SystemError) {
    try container("a", type, body)
  }

  package func structure(
    _ type: String, _ body: () throws(SystemError) -> Void
  ) throws(SystemError) {
    try container("r", type, body)
  }

  package func entry(_ types: String, _ body: () throws(SystemError) -> Void) throws(SystemError) {
    try container("e", types, body)
  }

  package func variant(_ type: String, _ body: () throws(SystemError) -> Void) throws(SystemError) {
    try container("v", type, body)
  }

  private func append(_ type: Character, _ text: String) throws(SystemError) {
    let result = text.withCString { sd_bus_message_append_basic(message, Self.code(type), $0) }
    try check("sd_bus_message_append_basic", result)
  }

  private func append(
    _ type: Character, number: some FixedWidthInteger
  ) throws(SystemError) {
    var number = number
    let result = sd_bus_message_append_basic(message, Self.code(type), &number)
    try check("sd_bus_message_append_basic", result)
  }

  private func container(
    _ type: Character, _ content: String, _ body: () throws(SystemError) -> Void
  ) throws(SystemError) {
    let opened = sd_bus_message_open_container(message, Self.code(type), content)
    try check("sd_bus_message_open_container", opened)
    try body()
    try check("sd_bus_message_close_container", sd_bus_message_close_container(message))
  }

  private static func code(_ type: Character) -> CChar {
    CChar(type.asciiValue ?? 0)
  }
}

/// A reader of the arguments of a message, in their order. A method returns nil if the next
/// argument has another type.
package struct MessageReader {
  private let message: OpaquePointer

  package init(_ message: OpaquePointer) {
    self.message = message
  }

  /// Returns whether the message is the given signal.
  package func isSignal(_ interface: String, _ member: String) -> Bool {
    sd_bus_message_is_signal(message, interface, member) > 0
  }

  /// The unique name of the sender, which the bus vouches for. The bus's own messages have the
  /// sender `org.freedesktop.DBus`.
  package var sender: String? { sd_bus_message_get_sender(message).map { String(cString: $0) } }

  /// Whether the message is a call.
  package var isCall: Bool { sd_bus_message_is_method_call(message, nil, nil) > 0 }

  /// The name that the message is sent to: a unique or a well-known name.
  package var destination: String? {
    sd_bus_message_get_destination(message).map { String(cString: $0) }
  }

  /// The path of the object that sent the signal or receives the call.
  package var path: String? { sd_bus_message_get_path(message).map { String(cString: $0) } }

  /// The interface of a signal or a call; nil for a call that names no interface.
  package var interface: String? {
    sd_bus_message_get_interface(message).map { String(cString: $0) }
  }

  /// The name of a signal or of the called method.
  package var member: String? { sd_bus_message_get_member(message).map { String(cString: $0) } }

  package func text() -> String? { text("s") }

  package func objectPath() -> String? { text("o") }

  private func text(_ type: Character) -> String? {
    var text: UnsafePointer<CChar>?
    guard sd_bus_message_read_basic(message, Self.code(type), &text) > 0 else { return nil }
    return text.map { String(cString: $0) }
  }

  package func number() -> UInt32? {
    var number: UInt32 = 0
    guard sd_bus_message_read_basic(message, CChar(UInt8(ascii: "u")), &number) > 0 else {
      return nil
    }
    return number
  }

  /// Returns a number of the type `i`.
  package func integer() -> Int32? {
    var number: Int32 = 0
    guard sd_bus_message_read_basic(message, Self.code("i"), &number) > 0 else { return nil }
    return number
  }

  /// Returns the number of the type `i` in a variant.
  package func integerInVariant() -> Int32? {
    container("v", "i") { integer() }
  }

  /// Returns a number of the type `t`.
  package func unsignedNumber() -> UInt64? {
    var number: UInt64 = 0
    guard sd_bus_message_read_basic(message, Self.code("t"), &number) > 0 else { return nil }
    return number
  }

  /// Returns the number of the type `d` in a variant.
  package func doubleInVariant() -> Double? {
    container("v", "d") {
      var number = 0.0
      return sd_bus_message_read_basic(message, Self.code("d"), &number) > 0 ? number : nil
    }
  }

  /// Returns a number of the type `x`.
  package func signedNumber() -> Int64? {
    var number: Int64 = 0
    guard sd_bus_message_read_basic(message, Self.code("x"), &number) > 0 else { return nil }
    return number
  }

  /// Returns the id and the object path of a systemd job from a structure `(uo)`. A unit's property
  /// `Job` contains this structure.
  package func job() -> (id: UInt32, path: String)? {
    var path: UnsafePointer<CChar>?
    guard sd_bus_message_enter_container(message, CChar(UInt8(ascii: "r")), "uo") > 0,
      let id = number(),
      sd_bus_message_read_basic(message, CChar(UInt8(ascii: "o")), &path) > 0, let path
    else { return nil }
    return (id, String(cString: path))
  }

  /// Returns the Boolean value in a variant. D-Bus sends the value of a property as a variant.
  package func flagInVariant() -> Bool? {
    var flag: Int32 = 0
    guard sd_bus_message_enter_container(message, CChar(UInt8(ascii: "v")), "b") > 0,
      sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &flag) > 0,
      sd_bus_message_exit_container(message) >= 0
    else { return nil }
    return flag != 0
  }

  /// Returns the text in a variant.
  package func textInVariant() -> String? {
    container("v", "s") { text() }
  }

  /// Returns the number of the type `u` in a variant.
  package func numberInVariant() -> UInt32? {
    container("v", "u") { number() }
  }

  /// Returns the object path in a variant.
  package func objectPathInVariant() -> String? {
    container("v", "o") { objectPath() }
  }

  /// Returns the texts in a dictionary from numbers to variants, and skips the values that are not
  /// texts.
  package func numberedTexts() -> [UInt32: String]? {
    container("a", "{uv}") { () -> [UInt32: String]? in
      var texts: [UInt32: String] = [:]
      while sd_bus_message_enter_container(message, Self.code("e"), "uv") > 0 {
        guard let key = number() else { return nil }
        let text = textInVariant()
        guard text != nil || sd_bus_message_skip(message, "v") >= 0,
          sd_bus_message_exit_container(message) >= 0
        else { return nil }
        texts[key] = text
      }
      return texts
    }
  }

  /// Returns the texts in a dictionary from numbers to variants, which is itself in a variant.
  package func numberedTextsInVariant() -> [UInt32: String]? {
    container("v", "a{uv}") { numberedTexts() }
  }

  /// Calls `read` to read the structure in a variant, and returns the result.
  package func structureInVariant<Value>(_ types: String, _ read: () -> Value?) -> Value? {
    container("v", "(\(types))") { container("r", types, read) }
  }

  /// Reads the elements of an array of structures.
  ///
  /// - Parameter read: Reads one element. If it returns false, the remaining elements are not read.
  package func structures(_ types: String, _ read: () -> Bool) {
    _ = container("a", "(\(types))") {
      while container("r", types, { read() ? true : nil }) != nil {}
      return true
    }
  }

  /// Reads the properties in a reply to `org.freedesktop.DBus.Properties.GetAll`.
  ///
  /// - Parameter read: Reads the variant of the property with the given name, and returns true.
  ///   Returns false to skip the property.
  /// - Returns: Whether the message contains properties, and all of them could be read or skipped.
  package func properties(_ read: (String) -> Bool) -> Bool {
    container("a", "{sv}") { () -> Bool? in
      while sd_bus_message_enter_container(message, Self.code("e"), "sv") > 0 {
        guard let name = text() else { return nil }
        guard read(name) || sd_bus_message_skip(message, "v") >= 0,
          sd_bus_message_exit_container(message) >= 0
        else { return nil }
      }
      return true
    } != nil
  }

  /// Reads the objects in a reply to `org.freedesktop.DBus.ObjectManager.GetManagedObjects`.
  ///
  /// - Parameter use: Called with the path and the interfaces of each object.
  package func objects(_ use: (_ path: String, _ interfaces: [String]) -> Void) {
    _ = container("a", "{oa{sa{sv}}}") { () -> Bool? in
      while true {
        let object = container("e", "oa{sa{sv}}") { () -> (String, [String])? in
          guard let path = objectPath(), let names = self.interfaces() else { return nil }
          return (path, names)
        }
        guard let (path, interfaces) = object else { return true }
        use(path, interfaces)
      }
    }
  }

  /// Returns the names of the interfaces in a dictionary from interfaces to properties. The signal
  /// `org.freedesktop.DBus.ObjectManager.InterfacesAdded` contains this dictionary.
  package func interfaces() -> [String]? {
    container("a", "{sa{sv}}") { () -> [String]? in
      var names: [String] = []
      while true {
        let name = container("e", "sa{sv}") { () -> String? in
          let name = text()
          return sd_bus_message_skip(message, "a{sv}") >= 0 ? name : nil
        }
        guard let name else { return names }
        names.append(name)
      }
    }
  }

  /// Enters a container, reads its content with `read`, and leaves the container. Returns nil if
  /// one of these steps fails.
  private func container<Value>(_ type: Character, _ content: String, _ read: () -> Value?)
    -> Value?
  {
    guard sd_bus_message_enter_container(message, Self.code(type), content) > 0,
      let value = read(), sd_bus_message_exit_container(message) >= 0
    else { return nil }
    return value
  }

  private static func code(_ type: Character) -> CChar { CChar(type.asciiValue ?? 0) }

  /// Returns the first texts of an array, at most `countMax`, because a peer can send any number of
  /// texts. Call this method for the last argument only: the reader cannot leave the array.
  package func texts(countMax: Int = 4096) -> [String]? { texts("s", countMax) }

  /// Returns the first object paths of an array, at most `countMax`. Call this method for the last
  /// argument only, as for ``texts(countMax:)``.
  package func objectPaths(countMax: Int) -> [String]? { texts("o", countMax) }

  private func texts(_ type: Character, _ countMax: Int) -> [String]? {
    guard sd_bus_message_enter_container(message, Self.code("a"), "\(type)") > 0 else {
      return nil
    }
    var texts: [String] = []
    while texts.count < countMax, let text = text(type) { texts.append(text) }
    return texts
  }
}
