/// The kinds of records in the journal, each with its MESSAGE_ID.
///
/// An id never changes its meaning: scripts match it, and `journalctl -x` explains it from
/// `systemd/catalog/taskschedd.catalog`. The ids were drawn with `systemd-id128 new`.
public enum MessageID: String, CaseIterable, Hashable, Sendable {
  /// An application went from one state to another.
  case transition = "6c7e1cce513d42ab9485fe1243d1d400"
  /// A program was started for an application.
  case launched = "8eef61c43bc045a89f27db7c8483ff44"
  /// An application opened its event stream.
  case registered = "8181f8723225470e959d4cff49953662"
  /// A background task was granted.
  case taskBegan = "2d895174c4204e45beb4669630cad3ea"
  /// A background task was ended by its application.
  case taskEnded = "e49edfa6240e48c48353213253f283d4"
  /// The expiration handler of a task was called.
  case taskExpired = "098c0699c0ae492da691b9406aeb04f9"
  /// An instance ended.
  case ended = "a523f00aacb844d49ff63b2a964b9e16"
  /// A request was refused.
  case refused = "1a9c58fe87624e68a0ad092ac64097f2"
  /// Not all processes of an application could be stopped, and all were resumed.
  case suspensionFailed = "1023cc4d46904b458c3c879fc972e7f6"
  /// A signal could not be sent.
  case signalFailed = "2d0f7f8e5eb04b5b9f47f3e9ab0413dd"
  /// The configuration was read and is in force.
  case configurationLoaded = "ba8f377c14074a64a21cfea5a44bd882"
  /// The configuration has mistakes, of which this is one.
  case configurationRefused = "f28ec8029bf14777b2df7ba6cccec4cd"
  /// What an earlier daemon held was taken over.
  case recovered = "8346577442f44216a393b15ecc604722"
  /// A journal of an earlier daemon cannot be gone on from, wholly or in part.
  case journalRefused = "c506d33b48214192b87d7c11e380160c"
  /// The journal cannot be written.
  case journalBehind = "4d8a0fbba256453eb64bead0a14dbf25"
  /// The journal can be written again.
  case journalWhole = "46de6596a99340efb80a45cd3044ae2d"
  /// An application has set or cleared its keep-alive handler.
  case keepAliveSet = "06de9ac3d5f84e818957b95b0428b0a0"
  /// The keep-alive handler of an application was called.
  case keepAliveCalled = "195f4497d2134fe7a3ae85f470a884cc"
  /// An application has handed a socket over, or taken it back.
  case socketManaged = "6bfb94c4f3ce40fdb41cadbdd763f6c3"
  /// Something has arrived on a managed socket.
  case socketsReady = "a0139f45464146e9a449951af2b4a1b3"
  /// A notification was scheduled, or cancelled.
  case notificationScheduled = "7bc0a25e505449f7b51b14ab41d1e3bf"
  /// A notification has fired.
  case notificationFired = "c60ee909709348f3809df45eb35aee85"
  /// The user has chosen a notification.
  case notificationChosen = "63682db7d74940738d0a0c63c1004a6b"
  /// An application has set its badge.
  case badgeSet = "0022111c0eba46d58c72ec45e77f6904"
  /// An application will be launched again.
  case relaunchPlanned = "ba5affcd44284d4b83f09e762f4731c1"
  /// An application was told that memory is short.
  case memoryWarned = "fa18011195aa4510ab1e56d145c8ada2"
  /// An application is to end, that others may have its memory.
  case memoryChosen = "d1b521a5b20d48159af2f65fadc71630"
  /// An application uses too much of the processors in the background and is throttled, or no more.
  case throttled = "5b7cbe7a7af8470890ee4dc2a7b05840"
  /// An application was suspended with a socket on which it listens.
  case listening = "9681549e05d14637a5539e6276db2620"
  /// An application broke a rule of the background.
  case ruleBroken = "bddad48348434a9db7212a10d0a14697"
  /// The store of notifications cannot be used.
  case storeFailed = "e35fdb27f3d94dfc8de0ab3d3fa8ab47"
  /// A user cannot be shown notifications.
  case desktopMissing = "5b44a60099fe485cb981c259275bae65"
  /// A user can be shown notifications again.
  case desktopFound = "5713b0f501cf43cca9c6e5df38895bf0"
  /// The daemon is ready.
  case started = "be0a7d1009b14552a623242f305f11d5"
  /// The daemon ends.
  case stopped = "46b54d20cb3e461abcefca94b1240269"
}
