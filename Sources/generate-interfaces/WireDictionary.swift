import TaskSchedulerWire

/// The words of the wire for the fuzzer: the names that the interfaces declare, those of the
/// envelope, and marks of JSON.
enum WireDictionary {
  private static let envelope = [
    "continues", "error", "method", "more", "oneway", "parameters", "upgrade",
  ]
  private static let marks = [
    "{", "}", "[", "]", ":", ",", "true", "false", "null", "-1", "9223372036854775807",
    "-9223372036854775808", "1e9", "1.5", #"\\u0000"#, #"\\ud83d\\ude00"#, #"\\ud800"#, #"\\n"#,
    #"\x00"#, #"\x01"#, #"\xff"#, #"\xed\xa0\x80"#,
  ]

  static func text(_ interfaces: [InterfaceDescription]) -> String {
    var names = Set(envelope)
    for interface in interfaces {
      for type in interface.types { names.formUnion(Self.names(type.type)) }
      for method in interface.methods {
        names.insert("\(interface.name).\(method.name)")
        names.formUnion((method.input + method.output).map(\.name))
      }
      for error in interface.errors {
        names.insert("\(interface.name).\(error.name)")
        names.formUnion(error.fields.map(\.name))
      }
    }
    let words = names.sorted().map { #""\"\#($0)\"""# } + marks.map { "\"\($0)\"" }
    return "# Generated from the interfaces by 'make interfaces'; not to be edited.\n"
      + words.map { $0 + "\n" }.joined()
  }

  private static func names(_ type: InterfaceDescription.FieldType) -> [String] {
    switch type {
    case .structure(let fields): fields.map(\.name)
    case .enumeration(let names): names
    case .bool, .int, .float, .string, .object, .any, .named, .array, .dictionary, .optional: []
    }
  }
}
