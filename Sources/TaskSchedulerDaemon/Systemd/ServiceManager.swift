import CSystemd
import Glibc

/// The service manager that started the daemon, reached through the functions of sd-daemon(3).
enum ServiceManager {
  /// Sends a new state of the service (sd_notify(3)). Without a service manager this does nothing.
  static func notify(_ state: String) { sd_notify(0, state) }

  /// Returns whether a descriptor is a listening Unix stream socket.
  static func isListeningSocket(_ number: Int32) -> Bool {
    sd_is_socket(number, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0
  }
}
