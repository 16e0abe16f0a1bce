import TaskSchedulerCore

/// One setting of taskschedd.toml: its name, what it may be, and where it is kept.
public struct SettingDescription: Sendable {
  /// The table that it stands in.
  public enum Section: String, CaseIterable, Sendable {
    /// At the top of the file, in kebab case: the daemon's own.
    case daemon = ""
    /// `[policy]`: the contract's limits, under the contract's names.
    case policy
  }

  public var name: String
  public var section: Section
  public var kind: SettingKind
  /// What it does, for the commented file and for people.
  public var summary: String
  private var read: @Sendable (Configuration) -> SettingValue
  private var write: @Sendable (inout Configuration, SettingValue) -> Void

  /// With its table: `policy.CallbackTimeout`.
  public var fullName: String { section == .daemon ? name : "\(section.rawValue).\(name)" }

  /// The path to it in a document.
  public var path: [TOMLPathComponent] {
    section == .daemon ? [.key(name)] : [.key(section.rawValue), .key(name)]
  }

  /// Its value in `configuration`, as written without quotes.
  public func value(in configuration: Configuration) -> String {
    read(configuration).description
  }

  /// Its value in `configuration`, as the file writes it.
  public func tomlText(in configuration: Configuration) -> String {
    read(configuration).tomlText
  }

  /// Reads `node` as its kind and keeps it in `configuration`, which a refusal leaves as it was.
  public func set(
    _ node: TOMLNode, in configuration: inout Configuration
  ) throws(SettingRefusal) {
    write(&configuration, try kind.value(of: node))
  }
}

extension SettingDescription {
  /// All settings, in the order of the commented file.
  public static let all: [SettingDescription] = daemonSettings + policySettings

  private static let daemonSettings: [SettingDescription] = [
    .choice(
      "suspend-mechanism", \.options.suspendMechanism,
      "How the processes of an application are stopped: by the freezer of their cgroup, by "
        + "signals, or by the freezer where they have a cgroup of their own (auto)."),
    .timeSpan(
      .daemon, "suspend-timeout", \.options.suspendTimeout, .milliseconds(10) ... .seconds(60),
      "How long all processes of an application may take to be seen stopped. Then the suspension "
        + "is undone, reported, and tried again later."),
    .choice(
      "launch-mechanism", \.options.launchMechanism,
      "How the programs of manifests are started: as transient services of systemd's (unit), as "
        + "children of the daemon, or as services where systemd has started the daemon (auto). "
        + "Takes effect when the daemon starts."),
    .policy(.multitaskingSupported, in: .daemon),
    SettingDescription(
      name: "operator-group", section: .daemon, kind: .groupName,
      summary: "The group whose members may operate every application, as root may; \"\" for none.",
      read: { .text($0.options.operatorGroup) },
      write: { if case .text(let name) = $1 { $0.options.operatorGroup = name } }),
    SettingDescription(
      name: "background-priority", section: .daemon, kind: .flag,
      summary: "Whether applications in the background run with lower priority than those in the "
        + "foreground.",
      read: { .flag($0.options.backgroundPriority) },
      write: { if case .flag(let flag) = $1 { $0.options.backgroundPriority = flag } }),
    SettingDescription(
      name: "background-nice", section: .daemon, kind: .count(1...19),
      summary: "The nice value at least of their threads, or what corresponds to it as the weight "
        + "of their cgroup. Takes effect when an application is sent to the background.",
      read: { .count($0.options.backgroundNice) },
      write: { if case .count(let nice) = $1 { $0.options.backgroundNice = nice } }),
    .choice(
      "log-level", \.options.logLevel,
      "What is written to the log: records of this level and graver ones."),
  ]

  private static let policySettings: [SettingDescription] =
    (PolicySetting.limits + PolicySetting.memory + PolicySetting.quotas)
    .map { .policy($0, in: .policy) } + ownQuotas

  /// Those that the policy knows nothing of.
  private static let ownQuotas: [SettingDescription] = [
    .count(
      "MaxConnectionsPerUser", \.options.connectionsPerUserMax, 1...1_000_000,
      "How many connections one user may have open."),
    .count(
      "MaxMonitorsPerUser", \.options.monitorsPerUserMax, 1...65536,
      "How many monitors one user may have of all applications, and of each one."),
    SettingDescription(
      name: "MaxQueuedBytesPerConnection", section: .policy, kind: .bytes(4096 ... 1 << 30),
      summary: "How much a client may leave unread before its connection is closed.",
      read: { .bytes($0.options.queuedBytesPerConnectionMax) },
      write: { if case .bytes(let bytes) = $1 { $0.options.queuedBytesPerConnectionMax = bytes } }),
    SettingDescription(
      name: "MaxQueuedBytesPerUser", section: .policy, kind: .bytes(1 << 16 ... 1 << 40),
      summary: "How much all connections of one user may have in unfinished messages and unread "
        + "answers before one that adds to it is closed.",
      read: { .bytes($0.options.queuedBytesPerUserMax) },
      write: { if case .bytes(let bytes) = $1 { $0.options.queuedBytesPerUserMax = bytes } }),
    SettingDescription(
      name: "MaxUnfinishedBytesPerUser", section: .policy, kind: .bytes(1 << 16 ... 1 << 30),
      summary: "How much of that may be of unfinished messages, which the journal has, too.",
      read: { .bytes($0.options.unfinishedBytesPerUserMax) },
      write: { if case .bytes(let bytes) = $1 { $0.options.unfinishedBytesPerUserMax = bytes } }),
    .count(
      "MaxUnfinishedDescriptorsPerUser", \.options.unfinishedDescriptorsPerUserMax, 8...65536,
      "How many file descriptors one user's unfinished messages may have brought."),
    SettingDescription(
      name: "SharedResources", section: .policy, kind: .paths,
      summary: "Files, by absolute paths, on which an application may not hold a lock or a lease "
        + "when it is suspended. Then it is killed. In users' homes, no absolute links are "
        + "followed.",
      read: { .paths($0.options.sharedResources) },
      write: { if case .paths(let paths) = $1 { $0.options.sharedResources = paths } }),
  ]
}

/// The ways to describe a setting by the property that keeps it.
extension SettingDescription {
  private typealias Property<Value> = WritableKeyPath<Configuration, Value> & Sendable

  private static func timeSpan(
    _ section: Section, _ name: String, _ property: Property<Duration>,
    _ bounds: ClosedRange<Duration>, _ summary: String
  ) -> SettingDescription {
    SettingDescription(
      name: name, section: section, kind: .timeSpan(bounds), summary: summary,
      read: { .timeSpan($0[keyPath: property]) },
      write: { if case .timeSpan(let span) = $1 { $0[keyPath: property] = span } })
  }

  private static func count(
    _ name: String, _ property: Property<Int>, _ bounds: ClosedRange<Int>, _ summary: String
  ) -> SettingDescription {
    SettingDescription(
      name: name, section: .policy, kind: .count(bounds), summary: summary,
      read: { .count($0[keyPath: property]) },
      write: { if case .count(let count) = $1 { $0[keyPath: property] = count } })
  }

  /// One that the core describes.
  private static func policy(_ setting: PolicySetting, in section: Section) -> SettingDescription {
    let kind: SettingKind =
      switch setting.kind {
      case .timeSpan(_, let bounds): .timeSpan(bounds)
      case .count(_, let bounds): .count(bounds)
      case .flag: .flag
      }
    return SettingDescription(
      name: setting.name, section: section, kind: kind, summary: setting.summary,
      read: {
        switch setting.kind {
        case .timeSpan(let property, _): .timeSpan($0.policy[keyPath: property])
        case .count(let property, _): .count($0.policy[keyPath: property])
        case .flag(let property): .flag($0.policy[keyPath: property])
        }
      },
      write: { configuration, value in
        switch (setting.kind, value) {
        case (.timeSpan(let property, _), .timeSpan(let span)):
          configuration.policy[keyPath: property] = span
        case (.count(let property, _), .count(let count)):
          configuration.policy[keyPath: property] = count
        case (.flag(let property), .flag(let flag)):
          configuration.policy[keyPath: property] = flag
        case (.timeSpan, _), (.count, _), (.flag, _):
          preconditionFailure("\(setting.name) is read as its kind")
        }
      })
  }

  private static func choice<Choice: CaseIterable & RawRepresentable<String> & SendableMetatype>(
    _ name: String, _ property: Property<Choice>, _ summary: String
  ) -> SettingDescription {
    SettingDescription(
      name: name, section: .daemon, kind: .choice(Choice.allCases.map(\.rawValue)),
      summary: summary,
      read: { .text($0[keyPath: property].rawValue) },
      write: {
        if case .text(let name) = $1, let choice = Choice(rawValue: name) {
          $0[keyPath: property] = choice
        }
      })
  }
}
