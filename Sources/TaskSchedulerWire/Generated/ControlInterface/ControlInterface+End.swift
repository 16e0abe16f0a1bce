// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The end of an instance.
  public struct End: WireStructure {
    public var reason: EndKind
    /// The exit code. Set only if the reason is exited.
    public var code: Int?
    /// The number of the signal. Set only if the reason is crashed.
    public var signal: Int?
    /// The callback that the application did not acknowledge in time, if the daemon killed the
    /// application for this reason. Set only with callbackTimeout, keepAliveTimeout,
    /// terminatedByOperator and terminatedByUser.
    public var callback: CallbackKind?
    /// The number of outstanding tasks. Set only if the reason is backgroundTimeExpired.
    public var tasks: Int?
    /// The first of the outstanding tasks. Set only if the reason is backgroundTimeExpired.
    public var task: Int?
    public var taskName: String?
    /// The signal that requested the end (SIGTERM, or the manifest's stop-signal). Set only if the
    /// application did not exit within `stopLimitUSec` and the daemon therefore sent SIGKILL.
    public var stopSignal: String?
    public var stopLimitUSec: Int?
    public var atUSec: Int

    public static let fieldNames = [
      "reason", "code", "signal", "callback", "tasks", "task", "taskName", "stopSignal",
      "stopLimitUSec", "atUSec",
    ]

    public init(
      reason: EndKind, code: Int? = nil, signal: Int? = nil, callback: CallbackKind? = nil,
      tasks: Int? = nil, task: Int? = nil, taskName: String? = nil, stopSignal: String? = nil,
      stopLimitUSec: Int? = nil, atUSec: Int
    ) {
      self.reason = reason
      self.code = code
      self.signal = signal
      self.callback = callback
      self.tasks = tasks
      self.task = task
      self.taskName = taskName
      self.stopSignal = stopSignal
      self.stopLimitUSec = stopLimitUSec
      self.atUSec = atUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      reason = try fields.required("reason")
      code = try fields.optional("code")
      signal = try fields.optional("signal")
      callback = try fields.optional("callback")
      tasks = try fields.optional("tasks")
      task = try fields.optional("task")
      taskName = try fields.optional("taskName")
      stopSignal = try fields.optional("stopSignal")
      stopLimitUSec = try fields.optional("stopLimitUSec")
      atUSec = try fields.required("atUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "reason", reason)
      object.append(field: "code", code)
      object.append(field: "signal", signal)
      object.append(field: "callback", callback)
      object.append(field: "tasks", tasks)
      object.append(field: "task", task)
      object.append(field: "taskName", taskName)
      object.append(field: "stopSignal", stopSignal)
      object.append(field: "stopLimitUSec", stopLimitUSec)
      object.append(field: "atUSec", atUSec)
    }
  }
}
