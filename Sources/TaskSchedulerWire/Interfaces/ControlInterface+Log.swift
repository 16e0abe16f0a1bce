extension ControlInterface {
  /// A record of the log. `number` counts up; `level` is error, warning, notice, info or debug.
  public struct LogRecord: Codable, Hashable, Sendable {
    public var number: Int
    public var atUSec: Int
    public var level: String
    public var application: String
    public var owner: Int
    public var pid: Int?
    public var message: String

    public init(
      number: Int, atUSec: Int, level: String, application: String, owner: Int, pid: Int? = nil,
      message: String
    ) {
      self.number = number
      self.atUSec = atUSec
      self.level = level
      self.application = application
      self.owner = owner
      self.pid = pid
      self.message = message
    }
  }

  /// The newest records of the log about the caller's applications (an operator's: all), the oldest
  /// first, 100 at most, or `lines` where that is less; those before them where `before` is the
  /// number of the first. For callers who may not read the journal: the daemon keeps 500 for each
  /// user, at most, since it was started.
  public enum GetLog: InterfaceMethod {
    public static var name: String { MethodName.getLog.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String?
      public var owner: Int?
      public var before: Int?
      public var lines: Int?

      public init(
        application: String? = nil, owner: Int? = nil, before: Int? = nil, lines: Int? = nil
      ) {
        self.application = application
        self.owner = owner
        self.before = before
        self.lines = lines
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var records: [LogRecord]

      public init(records: [LogRecord]) {
        self.records = records
      }
    }
  }
}
