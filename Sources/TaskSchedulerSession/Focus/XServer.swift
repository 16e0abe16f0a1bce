import CXCB
import Glibc

/// The reason why a connection to an X server could not be made.
package enum XFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// No server listens at the display, or the server refuses the user. `code` is the result of
  /// xcb_connection_has_error(3).
  case refused(display: String, code: Int32)
  case noScreen
  /// The server has no extension X-Resource 1.2, which reports the process of a window.
  case noResourceExtension
  /// The server closed the connection while it was being set up.
  case closed

  package var description: String {
    switch self {
    case .refused(let display, let code): "cannot connect to display \(display) (XCB error \(code))"
    case .noScreen: "the X server has no screen with the number that DISPLAY names"
    case .noResourceExtension: "the X server lacks the extension X-Resource 1.2"
    case .closed: "the X server closed the connection while the agent set it up"
    }
  }
}

/// The atoms that the agent uses, with their names: the properties of windows, and one state of
/// windows (EWMH 1.5, ICCCM 2.0).
enum XAtom: String, CaseIterable {
  case supportingWMCheck = "_NET_SUPPORTING_WM_CHECK"
  case activeWindow = "_NET_ACTIVE_WINDOW"
  case clientList = "_NET_CLIENT_LIST"
  case currentDesktop = "_NET_CURRENT_DESKTOP"
  case name = "_NET_WM_NAME"
  case netState = "_NET_WM_STATE"
  case netStateHidden = "_NET_WM_STATE_HIDDEN"
  case desktop = "_NET_WM_DESKTOP"
  case state = "WM_STATE"
  case windowClass = "WM_CLASS"
}

/// An open connection to an X server, with the data that every client requests first.
///
/// The class is Sendable, because one thread opens the connection and then passes it to the thread
/// of the loop. Two threads never use it at the same time, although libxcb would permit that.
final class XServer: @unchecked Sendable {
  let connection: OpaquePointer
  let root: UInt32
  private let atoms: [XAtom: UInt32]

  /// Connects, and waits for the server. Call this on a thread that may wait.
  static func open(_ display: String) throws(XFailure) -> XServer {
    var screenNumber: Int32 = 0
    guard let connection = xcb_connect(display, &screenNumber) else {
      throw .refused(display: display, code: 0)
    }
    do throws(XFailure) {
      let code = xcb_connection_has_error(connection)
      if code != 0 { throw .refused(display: display, code: code) }
      let root = try root(of: connection, Int(screenNumber))
      try requireResources(connection)
      return XServer(connection, root: root, atoms: try atoms(of: connection))
    } catch {
      xcb_disconnect(connection)
      throw error
    }
  }

  private init(_ connection: OpaquePointer, root: UInt32, atoms: [XAtom: UInt32]) {
    self.connection = connection
    self.root = root
    self.atoms = atoms
  }

  deinit {
    xcb_disconnect(connection)
  }

  /// Returns the number by which the server knows an atom.
  func atom(_ name: XAtom) -> UInt32 {
    // `open` requests the numbers of all atoms, so none is missing.
    atoms[name]!
  }

  private static func root(
    of connection: OpaquePointer, _ number: Int
  ) throws(XFailure) -> UInt32 {
    var screens = xcb_setup_roots_iterator(xcb_get_setup(connection))
    for _ in 0..<number where screens.rem > 0 { xcb_screen_next(&screens) }
    guard screens.rem > 0, let screen = screens.data else { throw .noScreen }
    return screen.pointee.root
  }

  private static func requireResources(_ connection: OpaquePointer) throws(XFailure) {
    guard let extensionData = xcb_get_extension_data(connection, cxcb_resource_extension()),
      extensionData.pointee.present != 0
    else { throw .noResourceExtension }
    let cookie = xcb_res_query_version(connection, 1, 2)
    guard let version = xcb_res_query_version_reply(connection, cookie, nil) else {
      throw .noResourceExtension
    }
    defer { free(version) }
    let (major, minor) = (version.pointee.server_major, version.pointee.server_minor)
    guard (major, minor) >= (1, 2) else { throw .noResourceExtension }
  }

  private static func atoms(of connection: OpaquePointer) throws(XFailure) -> [XAtom: UInt32] {
    let cookies = XAtom.allCases.map { name in
      (name, xcb_intern_atom(connection, 0, UInt16(name.rawValue.utf8.count), name.rawValue))
    }
    var atoms: [XAtom: UInt32] = [:]
    for (name, cookie) in cookies {
      guard let reply = xcb_intern_atom_reply(connection, cookie, nil) else { throw .closed }
      defer { free(reply) }
      atoms[name] = reply.pointee.atom
    }
    return atoms
  }
}
