/// The MESSAGE_IDs of the daemon's records about itself. The MESSAGE_IDs of records about
/// applications are in `Record.Kind`.
///
/// The meaning of an id never changes. Scripts match the ids, and `journalctl -x` shows their
/// explanations from `systemd/catalog/taskschedd.catalog`. `systemd-id128 new` generated the ids.
public enum MessageID: String, CaseIterable, Hashable, Sendable {
  /// The daemon loaded a configuration, which is now effective.
  case configurationLoaded = "ba8f377c14074a64a21cfea5a44bd882"
  /// A configuration is invalid; the record describes one problem.
  case configurationRefused = "f28ec8029bf14777b2df7ba6cccec4cd"
  /// The daemon took over the state of its predecessor.
  case recovered = "8346577442f44216a393b15ecc604722"
  /// The daemon cannot use the event log of its predecessor, or can use only a part of it.
  case eventLogRefused = "c506d33b48214192b87d7c11e380160c"
  /// The daemon cannot write its event log, or has no space for the next event log.
  case eventLogBehind = "4d8a0fbba256453eb64bead0a14dbf25"
  /// The daemon can write its event log again, or has space for the next event log again.
  case eventLogWhole = "46de6596a99340efb80a45cd3044ae2d"
  /// The daemon cannot use the store of notifications or of location data.
  case storeFailed = "e35fdb27f3d94dfc8de0ab3d3fa8ab47"
  /// A user has no desktop that shows notifications.
  case desktopMissing = "5b44a60099fe485cb981c259275bae65"
  /// A desktop shows notifications to a user again.
  case desktopFound = "5713b0f501cf43cca9c6e5df38895bf0"
  /// The daemon is ready.
  case started = "be0a7d1009b14552a623242f305f11d5"
  /// The daemon has stopped.
  case stopped = "46b54d20cb3e461abcefca94b1240269"
}
