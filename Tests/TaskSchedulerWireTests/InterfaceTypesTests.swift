import Testing

@testable import TaskSchedulerWire

/// One interface's Swift side, to be held to its text.
private struct SwiftSide {
  let description: InterfaceDescription
  let structures: [String: any Decodable.Type]
  let enumerations: [String: [String]]
  let methods: [any InterfaceMethod.Type]
  let methodNames: [String]
  let errorNames: [String]
  let failure: (String, JSONValue) throws -> (any MethodFailure)?

  static func names<T: RawRepresentable & CaseIterable>(_ type: T.Type) -> [String]
  where T.RawValue == String { type.allCases.map(\.rawValue) }

  static var application: SwiftSide {
    typealias A = ApplicationInterface
    return SwiftSide(
      description: A.description,
      structures: [
        "Callback": A.Callback.self, "BackgroundTask": A.BackgroundTask.self,
        "Registration": A.Registration.self, "Expiration": A.Expiration.self,
        "SocketReadiness": A.SocketReadiness.self, "SocketEvent": A.SocketEvent.self,
        "SystemChange": A.SystemChange.self, "NotificationSchedule": A.NotificationSchedule.self,
        "NotificationContent": A.NotificationContent.self, "Notification": A.Notification.self,
        "NotificationEvent": A.NotificationEvent.self,
      ],
      enumerations: [
        "State": names(A.State.self), "CallbackKind": names(A.CallbackKind.self),
        "LaunchReason": names(A.LaunchReason.self),
        "SystemChangeKind": names(A.SystemChangeKind.self),
        "RepeatInterval": names(A.RepeatInterval.self),
        "NotificationState": names(A.NotificationState.self),
      ],
      methods: [
        A.Register.self, A.Acknowledge.self, A.BeginBackgroundTask.self, A.EndBackgroundTask.self,
        A.SetKeepAliveTimeout.self, A.ManageSocket.self, A.ReleaseSocket.self,
        A.ScheduleNotification.self, A.ListNotifications.self, A.CancelNotifications.self,
        A.SetBadge.self, A.GetStatus.self,
      ],
      methodNames: names(A.MethodName.self), errorNames: names(A.Failure.Name.self),
      failure: { try A.Failure(name: $0, parameters: $1) })
  }

  static var control: SwiftSide {
    typealias C = ControlInterface
    return SwiftSide(
      description: C.description,
      structures: [
        "End": C.End.self, "BackgroundTask": C.BackgroundTask.self, "Instance": C.Instance.self,
        "EndedEntitlement": C.EndedEntitlement.self, "Limit": C.Limit.self,
        "Explanation": C.Explanation.self, "Resources": C.Resources.self,
        "MemoryUse": C.MemoryUse.self, "MemoryRival": C.MemoryRival.self,
        "MemoryEnd": C.MemoryEnd.self, "BrokenRule": C.BrokenRule.self,
        "KeepAlive": C.KeepAlive.self, "NextLaunch": C.NextLaunch.self,
        "LaunchFailure": C.LaunchFailure.self,
        "Application": C.Application.self, "NotificationSchedule": C.NotificationSchedule.self,
        "NotificationContent": C.NotificationContent.self, "Notification": C.Notification.self,
        "ApplicationNotification": C.ApplicationNotification.self, "Change": C.Change.self,
        "Setting": C.Setting.self, "LogRecord": C.LogRecord.self,
      ],
      enumerations: [
        "State": names(C.State.self), "LaunchReason": names(C.LaunchReason.self),
        "CallbackKind": names(C.CallbackKind.self),
        "EndedEntitlementKind": names(C.EndedEntitlementKind.self),
        "LimitKind": names(C.LimitKind.self), "MemoryPhase": names(C.MemoryPhase.self),
        "EndKind": names(C.EndKind.self), "Entitlement": names(C.Entitlement.self),
        "RepeatInterval": names(C.RepeatInterval.self),
        "NotificationState": names(C.NotificationState.self),
        "ChangeKind": names(C.ChangeKind.self),
      ],
      methods: [
        C.ListApplications.self, C.GetApplication.self, C.Explain.self, C.Launch.self,
        C.Adopt.self,
        C.Activate.self, C.Deactivate.self, C.SendToBackground.self, C.Terminate.self,
        C.ListNotifications.self, C.PostNotification.self, C.CancelNotifications.self,
        C.PostSystemChange.self, C.GetMemory.self, C.WarnMemory.self, C.Monitor.self,
        C.GetSettings.self, C.GetLog.self, C.Reload.self,
      ],
      methodNames: names(C.MethodName.self), errorNames: names(C.Failure.Name.self),
      failure: { try C.Failure(name: $0, parameters: $1) })
  }

  static var standard: SwiftSide {
    SwiftSide(
      description: Service.ownInterface, structures: [:], enumerations: [:], methods: [],
      methodNames: [], errorNames: names(StandardFailure.Name.self),
      failure: { try StandardFailure(name: $0, parameters: $1) })
  }

  /// The smallest value of a type, and one of another type.
  func sample(_ type: InterfaceDescription.FieldType) throws -> JSONValue {
    switch type {
    case .bool: return true
    case .int: return 7
    case .float: return 1.5
    case .string: return "text"
    case .object, .any, .dictionary, .structure: return [:]
    case .array(let element): return .array([try sample(element)])
    case .optional(let type): return try sample(type)
    case .enumeration(let names): return .string(names[0])
    case .named(let name):
      return try sample(try #require(description.types.first { $0.name == name }).type)
    }
  }
}

@Suite("The Swift types are what the .varlink files say")
struct InterfaceTypesTests {
  private static var sides: [SwiftSide] { [.application, .control] }

  @Test("the types are the same ones, with the same fields in the same order")
  func types() throws {
    for side in Self.sides {
      let declared = Set(side.description.types.map(\.name))
      #expect(declared == Set(side.structures.keys).union(side.enumerations.keys))
      for type in side.description.types {
        let place = "\(side.description.name).\(type.name)"
        switch type.type {
        case .structure(let fields):
          let swift = try #require(side.structures[type.name], "\(place)")
          try compare(swift, fields, place)
        case .enumeration(let names):
          #expect(side.enumerations[type.name] == names, "\(place)")
        case .bool, .int, .float, .string, .object, .any, .named, .array, .dictionary, .optional:
          Issue.record("\(place) is neither a structure nor an enumeration")
        }
      }
    }
  }

  @Test("The text of both interfaces says that descriptors are indices among the message's, from 0")
  func descriptorText() {
    for side in Self.sides {
      #expect(side.description.text.contains("is an index, from 0, into the file descriptors"))
    }
  }

  @Test("The text lists the environment variables of a launched program")
  func environmentText() {
    let text = ApplicationInterface.description.text
    for name in ["SOCKET", "APPLICATION", "INSTANCE", "LAUNCH_REASON"] {
      #expect(text.contains("#   TASKSCHEDD_\(name) "))
    }
  }

  @Test(
    """
    §4 The text says at both methods that they may suspend their caller before it reads the reply, \
    and that a state is the target of a transition
    """)
  func suspensionText() throws {
    let text = ApplicationInterface.description.text
    for method in ["method Acknowledge", "method EndBackgroundTask"] {
      let comment = try #require(text.components(before: method)).suffix(400)
      #expect(comment.contains("suspend its caller"), "\(method)")
      #expect(comment.contains("only after the"), "\(method)")
    }
    #expect(text.contains("names the target of a transition that has begun"))
    #expect(ControlInterface.description.text.contains("the target of a transition"))
  }

  @Test("the methods are the same ones, with the same input and output, descriptors by their name")
  func methods() throws {
    for side in Self.sides {
      let interface = side.description
      let names = interface.methods.map { "\(interface.name).\($0.name)" }
      #expect(side.methodNames == names)
      #expect(side.methods.map { $0.name } == names)
      for (method, swift) in zip(interface.methods, side.methods) {
        try compareMethod(swift, method, "\(interface.name).\(method.name)")
      }
    }
  }

  private func compareMethod<M: InterfaceMethod>(
    _ swift: M.Type, _ method: InterfaceDescription.MethodDeclaration, _ place: String
  ) throws {
    try compare(M.Input.self, method.input, place + " in")
    try compare(M.Output.self, method.output, place + " out")
  }

  private func compare(
    _ swift: any Decodable.Type, _ fields: [InterfaceDescription.Field], _ place: String
  ) throws {
    func recorded<T: Decodable>(_ type: T.Type) throws -> [InterfaceDescription.Field] {
      try FieldRecorder.fields(of: type)
    }
    #expect(try recorded(swift) == fields, "\(place)")
  }

  @Test("the errors are the same ones, with the same parameters")
  func errors() throws {
    for side in Self.sides + [.standard] {
      let interface = side.description
      #expect(side.errorNames == interface.errors.map { "\(interface.name).\($0.name)" })
      for error in interface.errors {
        try check(error, "\(interface.name).\(error.name)", side)
      }
      #expect(try side.failure("\(interface.name).Unheard", [:]) == nil)
    }
  }

  private func check(
    _ error: InterfaceDescription.ErrorDeclaration, _ name: String, _ side: SwiftSide
  ) throws {
    let full = try error.fields.map { field in
      JSONValue.Member(name: field.name, value: try side.sample(field.type))
    }
    let failure = try #require(try side.failure(name, .object(full)), "\(name)")
    #expect(failure.name == name)
    #expect(failure.parameters == .object(full), "\(name)")

    let stray = full + [JSONValue.Member(name: "stray", value: 1)]
    #expect(try side.failure(name, .object(stray))?.parameters == .object(full), "\(name)")
    for (index, field) in error.fields.enumerated() {
      var wrong = full
      wrong[index].value = .object([JSONValue.Member(name: "wrong", value: 1)])
      refuses(side, name, .object(wrong), naming: field.name)
      var less = full
      less.remove(at: index)
      if case .optional = field.type {
        #expect(try side.failure(name, .object(less))?.parameters == .object(less), "\(name)")
      } else {
        refuses(side, name, .object(less), naming: field.name)
      }
    }
  }

  private func refuses(
    _ side: SwiftSide, _ name: String, _ parameters: JSONValue, naming field: String
  ) {
    let error = #expect(throws: ParameterError.self, "\(name)") {
      try side.failure(name, parameters)
    }
    #expect(error?.parameter == field, "\(name)")
  }
}

extension String {
  /// What stands before the first occurrence of a text.
  fileprivate func components(before text: String) -> Substring? {
    indices.first { self[$0...].hasPrefix(text) }.map { self[..<$0] }
  }
}
