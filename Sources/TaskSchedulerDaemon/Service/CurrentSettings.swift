import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// The effective configuration, and the users that may operate all applications.
final class CurrentSettings {
  private(set) var configuration: Configuration
  /// Passes a configuration to the parts of the daemon. The owner sets this function once.
  var configure: (Configuration) -> Void = { _ in }
  /// Called when the set of operators may have changed. The owner sets this function once.
  var operatorsChanged: () -> Void = {}
  private let paths: ConfigurationPaths
  private let pump: Pump
  private let loop: EventLoop
  private let log: Log
  private var operatorGroup = OperatorGroup(named: "")
  /// The location rules that this daemon last reported to the scheduler; nil before the first
  /// report. Until then, the scheduler may have other rules from an earlier daemon.
  private var locationRules: LocationRules?

  init(
    _ configuration: Configuration, paths: ConfigurationPaths, pump: Pump, loop: EventLoop,
    log: Log
  ) {
    self.configuration = configuration
    self.paths = paths
    self.pump = pump
    self.loop = loop
    self.log = log
  }

  var scope: ConfigurationPaths.Scope { paths.scope }
  var isUserDaemon: Bool { scope == .user }

  /// The warnings about settings that are valid but probably not intended.
  var warnings: [String] {
    configuration.warnings(scope: scope, hasGroup: operatorGroup.current != nil)
      .map(\.description)
  }

  /// Makes the configuration effective.
  func apply() {
    log.level = configuration.options.logLevel
    configure(configuration)
    operatorGroup = OperatorGroup(named: configuration.options.operatorGroup)
    operatorsChanged()
    for warning in warnings { log.write(.warning, warning) }
    let daemonUser = UserID(Users.effectiveUID)
    let manifests = configuration.manifests.sortedByKey
      .map { $0.value.manifest(daemonUser: daemonUser) }
    // After a restart, the scheduler usually has the same manifests already.
    if manifests != pump.scheduler.manifests { pump.post(.scheduler(.manifestsChanged(manifests))) }
    if configuration.policy != pump.scheduler.policy.value {
      pump.post(.scheduler(.policyChanged(configuration.policy)))
    }
    let rules = configuration.options.location.rules
    if rules != locationRules {
      locationRules = rules
      pump.post(.location(.rulesChanged(rules)))
    }
  }

  /// Reads all files again, and makes the new configuration effective if it has no mistakes.
  ///
  /// - Returns: The mistakes.
  func reload() -> [ConfigurationProblem] {
    // systemd's protocol requires an instant of CLOCK_MONOTONIC.
    ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.microseconds)")
    let (fresh, problems) = Configuration.load(from: paths)
    if problems.isEmpty {
      configuration = fresh
      apply()
      log.write(
        .notice, "configuration read, \(fresh.manifestCount)", id: .configurationLoaded)
    } else {
      for problem in problems {
        log.write(.error, problem.description, id: .configurationRefused)
      }
      log.write(.error, "the configuration is invalid; the previous one stays effective")
    }
    ServiceManager.notify("READY=1")
    if problems.isEmpty { warnIfNotEnabled() }
    return problems
  }

  /// Warns if systemd would start the daemon too late to keep an application reachable.
  func warnIfNotEnabled() { log.warnIfNotEnabled(configuration, loop, scope) }

  // MARK: Operators

  /// Reads the operators' group again if it has changed.
  func reconsiderOperators() {
    if operatorGroup.refresh() { operatorsChanged() }
  }

  /// Returns whether a client may operate the applications of all users (contract §16).
  func isOperator(_ credentials: PeerCredentials, groups: [UInt32]) -> Bool {
    if credentials.uid == 0 || credentials.uid == Users.effectiveUID { return true }
    guard let group = operatorGroup.current else { return false }
    return credentials.gid == group || groups.contains(group)
  }
}
