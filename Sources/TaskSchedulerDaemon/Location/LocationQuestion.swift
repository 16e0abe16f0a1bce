import TaskSchedulerCore
import TaskSchedulerWire

/// The question whether an application may learn the location.
struct LocationQuestion {
  var application: ApplicationKey
  /// The name that the user sees.
  var name: String?
  /// The purpose for which the application wants the location, in the words of the manifest.
  var purpose: String?
  /// The services that the manifest names; nil without a manifest.
  var services: [LocationService]?

  /// - Parameter manifest: The application's manifest, if any.
  init(_ application: ApplicationKey, _ manifest: ApplicationManifest?) {
    self.application = application
    guard let manifest, manifest.account == nil || manifest.account?.uid == application.owner.uid
    else { return }
    name = manifest.displayName
    purpose = manifest.locationPurpose
    services = manifest.locationServices
  }

  var title: String { "\(name ?? application.id.name) wants to use your location" }

  var body: String {
    if let purpose { return purpose }
    let words = (services ?? []).map(\.words)
    guard let last = words.last else { return "It wants to know where you are." }
    let first = words.dropLast().joined(separator: ", ")
    // A list of three has a comma before "and": "a, b, and c".
    let conjunction = words.count > 2 ? ", and " : " and "
    return "It wants to know \(first.isEmpty ? "" : first + conjunction)\(last)."
  }

  /// The id of the notification: at least ``idBase``, and less than ``IncomingCall/idBase``.
  ///
  /// The id is a hash (FNV-1a) of the application and its owner. Every daemon computes the same id.
  /// If the user answers a question while no daemon runs, the next daemon therefore finds the
  /// question by the id.
  var id: UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(application.owner.uid) \(application.id.name)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Self.idBase | (hash & (Self.idBase - 1))
  }

  /// The lowest id of a question.
  static let idBase: UInt64 = 1 << 60

  /// The actions of the notification, with the decisions that they stand for.
  static let answers: [(action: SessionInterface.NotificationAction, LocationAuthorization)] = [
    (.init(id: "allow", title: "Allow"), .authorized),
    (.init(id: "deny", title: "Don't Allow"), .denied),
  ]
}

extension LocationService {
  /// The information that the application wants, as the end of a sentence.
  fileprivate var words: String {
    switch self {
    case .updates: "where you are"
    case .significantChanges: "when you have moved by about 500 m"
    case .regions: "when you enter or leave certain places"
    }
  }
}
