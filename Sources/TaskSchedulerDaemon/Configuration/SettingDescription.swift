import TaskSchedulerCore

/// A setting of taskschedd.toml: its name, its kind, and how to read and write its value in a
/// configuration.
public struct SettingDescription: Sendable {
  /// The table that contains the setting.
  public enum Section: String, CaseIterable, Sendable {
    /// The top of the file: the daemon's own settings, in kebab case.
    case daemon = ""
    /// `[policy]`: the limits of the contract, under the contract's names.
    case policy
    /// `[focus]`: the adoption of programs with windows.
    case focus
    /// `[location]`: the consent to learn the location, and gpsd.
    case location
  }

  public var name: String
  public var section: Section
  public var kind: SettingKind
  /// A description of the setting, for the commented configuration file and for users.
  public var summary: String
  private var read: @Sendable (Configuration) -> SettingValue
  private var write: @Sendable (inout Configuration, SettingValue) -> Void

  /// The name with its table: `policy.CallbackTimeout`.
  public var fullName: String { section == .daemon ? name : "\(section.rawValue).\(name)" }

  /// The path of the setting in a document.
  public var path: [TOMLPathComponent] {
    section == .daemon ? [.key(name)] : [.key(section.rawValue), .key(name)]
  }

  /// Returns the value in `configuration`, as written in the file; without quotes, unless the value
  /// is a list.
  public func value(in configuration: Configuration) -> String {
    read(configuration).description
  }

  /// Returns the value in `configuration`, as written in the file.
  public func tomlText(in configuration: Configuration) -> String {
    read(configuration).tomlText
  }

  /// Stores the value of `node` in `configuration`. A refused value leaves `configuration`
  /// unchanged.
  public func set(
    _ node: TOMLNode, in configuration: inout Configuration
  ) throws(SettingRefusal) {
    write(&configuration, try kind.value(of: node))
  }
}

extension SettingDescription {
  /// All settings, in the order of the commented file.
  public static let all: [SettingDescription] =
    daemonSettings + policySettings + focusSettings + locationSettings

  private static let daemonSettings: [SettingDescription] = [
    .choice(
      "suspend-mechanism", \.options.suspendMechanism,
      "How the daemon suspends the processes of an application. With the value freezer, it uses "
        + "the freezer of the processes' control group; with signal, it uses SIGSTOP. With auto, "
        + "it uses the freezer if the processes have a control group of their own, and SIGSTOP "
        + "otherwise."),
    .timeSpan(
      .daemon, "suspend-timeout", \.options.suspendTimeout, .milliseconds(10) ... .seconds(60),
      "How long the daemon waits until all processes of an application have stopped. If some of "
        + "them have not stopped by then, the daemon resumes all of them, logs the failure, and "
        + "tries again after SuspendRetryInterval."),
    .choice(
      "launch-mechanism", \.options.launchMechanism,
      "How the daemon starts the programs of manifests. With the value unit, it starts them as "
        + "transient services of systemd; with child, it starts them as its own children. With "
        + "auto, it starts services if systemd started the daemon, and children otherwise. Takes "
        + "effect when the daemon starts."),
    .policy(.multitaskingSupported, in: .daemon),
    SettingDescription(
      name: "operator-group", section: .daemon, kind: .groupName,
      summary: "The group whose members may operate every application, as root may. An empty "
        + "string means no group.",
      read: { .text($0.options.operatorGroup) },
      write: { if case .text(let name) = $1 { $0.options.operatorGroup = name } }),
    SettingDescription(
      name: "background-priority", section: .daemon, kind: .flag,
      summary: "Whether the daemon lowers the priority of applications in the background.",
      read: { .flag($0.options.backgroundPriority) },
      write: { if case .flag(let flag) = $1 { $0.options.backgroundPriority = flag } }),
    SettingDescription(
      name: "background-nice", section: .daemon, kind: .count(1...19),
      summary: "The minimum nice value of the threads of an application in the background. If the "
        + "control group of the application has a CPU controller, the daemon does not change nice "
        + "values. Instead, it lowers the CPU weight of the group by the factor that corresponds "
        + "to this minimum. Takes effect when an application enters the background.",
      read: { .count($0.options.backgroundNice) },
      write: { if case .count(let nice) = $1 { $0.options.backgroundNice = nice } }),
    .choice(
      "log-level", \.options.logLevel,
      "The least severe level that the daemon logs."),
  ]

  /// The settings of ``PolicySetting``, and the quotas that the scheduler does not need.
  private static let policySettings: [SettingDescription] =
    (PolicySetting.limits + PolicySetting.memory + PolicySetting.quotas)
    .map { .policy($0, in: .policy) } + ownQuotas

  /// The quotas that the scheduler does not need.
  private static let ownQuotas: [SettingDescription] = [
    .count(
      "MaxConnectionsPerUser", \.options.connectionsPerUserMax, 1...1_000_000,
      "How many connections one user may have open."),
    .count(
      "MaxMonitorsPerUser", \.options.monitorsPerUserMax, 1...65536,
      "How many monitors (taskctl monitor) one user may run without naming an application. For "
        + "each application, the user may also run this many monitors that name the application."),
    SettingDescription(
      name: "MaxQueuedBytesPerConnection", section: .policy, kind: .bytes(4096 ... 1 << 30),
      summary: "How many bytes a client may leave unread before the daemon closes the connection.",
      read: { .bytes($0.options.queuedBytesPerConnectionMax) },
      write: { if case .bytes(let bytes) = $1 { $0.options.queuedBytesPerConnectionMax = bytes } }),
    SettingDescription(
      name: "MaxQueuedBytesPerUser", section: .policy, kind: .bytes(1 << 16 ... 1 << 40),
      summary: "How many bytes the unfinished messages and the unread replies of one user may take "
        + "together. An unfinished message has arrived only in part. If a message or a reply would "
        + "exceed this number, the daemon closes its connection.",
      read: { .bytes($0.options.queuedBytesPerUserMax) },
      write: { if case .bytes(let bytes) = $1 { $0.options.queuedBytesPerUserMax = bytes } }),
    SettingDescription(
      name: "MaxUnfinishedBytesPerUser", section: .policy, kind: .bytes(1 << 16 ... 1 << 30),
      summary: "How many bytes the unfinished messages of one user may take. The daemon also "
        + "writes these messages to the event log.",
      read: { .bytes($0.options.unfinishedBytesPerUserMax) },
      write: { if case .bytes(let bytes) = $1 { $0.options.unfinishedBytesPerUserMax = bytes } }),
    .count(
      "MaxUnfinishedDescriptorsPerUser", \.options.unfinishedDescriptorsPerUserMax, 8...65536,
      "How many file descriptors may come with the unfinished messages of one user and with the "
        + "unread replies to this user."),
    SettingDescription(
      name: "SharedResources", section: .policy, kind: .paths,
      summary: "Absolute paths of files on which an application must not hold a lock or a lease "
        + "when the daemon suspends it. The daemon kills an application that holds one. The daemon "
        + "does not follow absolute symbolic links in home directories.",
      read: { .paths($0.options.sharedResources) },
      write: { if case .paths(let paths) = $1 { $0.options.sharedResources = paths } }),
    SettingDescription(
      name: "CallApplication", section: .policy, kind: .applicationID,
      summary: "The id of the application for incoming calls of a modem. The daemon wakes or "
        + "launches this application when a call begins to ring, and activates it when the user "
        + "answers the call in the notification. An empty string means no application.",
      read: { .text($0.options.callApplication?.name ?? "") },
      write: { if case .text(let name) = $1 { $0.options.callApplication = ApplicationID(name) } }),
  ]
}

extension SettingDescription {
  fileprivate static let focusSettings: [SettingDescription] = [
    SettingDescription(
      name: "adopt", section: .focus, kind: .programs(allowsAll: true),
      summary: "The programs that the daemon begins to manage when their windows first appear. "
        + "The value is a list of app ids (Wayland) or classes (X11), or \"all\". The daemon "
        + "does not adopt parts of the desktop, terminals, or programs that are connected to an "
        + "audio server.",
      read: {
        switch $0.options.adoption.adopt {
        case .all: .text("all")
        case .only(let ids): .names(ids)
        }
      },
      write: {
        switch $1 {
        case .text: $0.options.adoption.adopt = .all
        case .names(let ids): $0.options.adoption.adopt = .only(ids)
        case .timeSpan, .count, .bytes, .flag, .paths: break
        }
      }),
    SettingDescription(
      name: "except", section: .focus, kind: .programs(allowsAll: false),
      summary: "Exceptions to adopt = \"all\": the app ids of programs that the daemon does not "
        + "adopt.",
      read: { .names($0.options.adoption.except) },
      write: { if case .names(let ids) = $1 { $0.options.adoption.except = ids } }),
    SettingDescription(
      name: "never", section: .focus, kind: .programs(allowsAll: false),
      summary: "App ids and program names. The daemon never adopts a program that has such an app "
        + "id, or that has a process with such a name. The daemon adds these names to a list of "
        + "its own, which taskschedd.toml(5) describes.",
      read: { .names($0.options.adoption.never) },
      write: { if case .names(let names) = $1 { $0.options.adoption.never = names } }),
  ]
}

extension SettingDescription {
  fileprivate static let locationSettings: [SettingDescription] = [
    SettingDescription(
      name: "allow", section: .location, kind: .applications(allowsAll: true),
      summary: "The applications that may learn the location without a question to the user, "
        + "even if their manifests name no location service. The value is a list of ids, or "
        + "\"all\".",
      read: {
        switch $0.options.location.allow {
        case .all: .text("all")
        case .only(let ids): .names(ids.map(\.name))
        }
      },
      write: {
        switch $1 {
        case .text: $0.options.location.allow = .all
        case .names(let names):
          $0.options.location.allow = .only(names.compactMap(ApplicationID.init))
        case .timeSpan, .count, .bytes, .flag, .paths: break
        }
      }),
    SettingDescription(
      name: "deny", section: .location, kind: .applications(allowsAll: false),
      summary: "The ids of the applications that may not learn the location, even if allow "
        + "includes them or the user allows them.",
      read: { .names($0.options.location.deny.map(\.name)) },
      write: {
        if case .names(let names) = $1 {
          $0.options.location.deny = names.compactMap(ApplicationID.init)
        }
      }),
    SettingDescription(
      name: "gpsd", section: .location, kind: .socketPath,
      summary: "The path of the Unix socket of gpsd, or of a proxy to gpsd. If gpsd is "
        + "installed, taskschedd-gpsd.socket provides the default socket. An empty string means "
        + "that the daemon does not use gpsd.",
      read: { .text($0.options.location.gpsdSocket) },
      write: { if case .text(let path) = $1 { $0.options.location.gpsdSocket = path } }),
  ]
}

/// Functions that create the description of a setting from the property that stores the value.
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

  /// Returns the description of a setting that TaskSchedulerCore declares.
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
          preconditionFailure("the value of \(setting.name) is not of the setting's kind")
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
