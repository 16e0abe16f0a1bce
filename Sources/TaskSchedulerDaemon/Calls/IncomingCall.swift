import TaskSchedulerCore

/// A phone call that rings on this machine.
struct IncomingCall: Equatable {
  /// The path of the call's object on the system bus.
  var path: String
  /// The unique bus name of the ModemManager that reported the call.
  var service: String
  /// The number of the other phone; empty if it is not known.
  var number: String

  /// The maximum length of a number, and of the title that shows it, in Unicode scalars. Source:
  /// this project; a telephone number has at most 15 digits (ITU-T E.164).
  private static let numberMax = 128

  /// Returns the number, cut to its maximum length.
  static func bounded(_ number: String) -> String {
    String(String.UnicodeScalarView(number.unicodeScalars.prefix(numberMax)))
  }

  /// The title of the notification about the call.
  var title: String {
    number.isEmpty ? "Unknown number" : Self.bounded(PrintableText.of(number))
  }

  /// The id of the notification about the call: at least ``idBase``, and less than
  /// ``RecordingNotices/idBase``.
  ///
  /// The id is a hash (FNV-1a) of ``service`` and ``path``. Every daemon computes the same id. If
  /// the user answers a call while no daemon runs, the next daemon therefore finds the call by the
  /// id.
  var id: UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(service) \(path)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Self.idBase | (hash & (Self.idBase - 1))
  }

  /// The lowest id of a notification about a call.
  static let idBase: UInt64 = 1 << 61
}

/// The user's answer to an incoming call.
enum CallAnswer: Equatable {
  case accept, decline

  /// - Parameter action: The id of the chosen action; nil if the user chose the notification
  ///   itself.
  init?(action: String?) {
    switch action {
    case nil, "answer": self = .accept
    case "decline": self = .decline
    default: return nil
    }
  }
}
