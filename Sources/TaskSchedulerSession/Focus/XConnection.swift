import CXCB
import EventLoop
import Glibc
import LinuxSystem

/// An event that the agent asks the X server to send.
enum XEvent: Hashable {
  /// A property of a window changed.
  case property(window: UInt32, atom: UInt32)
  /// A window was mapped, unmapped or destroyed.
  case mapping(window: UInt32)
}

/// A property of a window.
struct XProperty {
  /// The value of a property that consists of 32-bit numbers; otherwise empty.
  var numbers: [UInt32] = []
  /// The value of a property that consists of bytes; otherwise empty.
  var bytes: [UInt8] = []
}

/// A connection to an X server. The connection never blocks the loop.
///
/// Connecting waits for the server, so another thread connects. After that, the connection never
/// waits: it sends requests, and handles the replies as they arrive, in the order of the requests.
final class XConnection {
  /// An event of the connection.
  enum Occurrence {
    /// The connection is open, and accepts requests.
    case ready
    case event(XEvent)
    /// The connection has handled everything that had arrived.
    case caughtUp
    /// The connection has ended. It reports nothing more.
    case ended(SourceEnd)
  }

  /// Handles a reply. The argument is nil if the request failed because the window is gone.
  private typealias ReplyHandler = (UnsafeMutableRawPointer?) -> Void

  private let report: (Occurrence) -> Void
  private let loop: EventLoop
  private let notifier: LoopNotifier
  private let opened = SharedValue<Result<XServer, XFailure>?>(nil)
  private var server: XServer?
  private var source: DescriptorSource?
  /// The requests whose replies have not arrived, in the order in which they were sent.
  private var pending: [(sequence: UInt32, handler: ReplyHandler)] = []

  /// Starts connecting.
  init(
    display: String, loop: EventLoop, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.report = report
    self.loop = loop
    notifier = try LoopNotifier()
    source = try loop.watch(notifier.rawValue, for: .input) { [weak self] _ in self?.take() }
    try DetachedThread.start { [opened, notifier] in
      let result = Result { () throws(XFailure) in try XServer.open(display) }
      opened.change { $0 = result }
      notifier.notify()
    }
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
  }

  /// Takes over the connection from the thread that has opened it.
  private func take() {
    switch opened.change({ $0.take() }) {
    case .success(let server):
      self.server = server
      do throws(SystemError) {
        source = try loop.watch(
          xcb_get_file_descriptor(server.connection), for: .input
        ) { [weak self] _ in self?.poll() }
      } catch {
        return end(.failed(error))
      }
      report(.ready)
      poll()
    case .failure(let failure): end(.x(failure))
    case nil: break
    }
  }

  private func end(_ reason: SourceEnd) {
    source = nil
    pending = []
    server = nil
    report(.ended(reason))
  }

  /// The root window; nil unless the connection is ready.
  var root: UInt32? { server?.root }

  func atom(_ name: XAtom) -> UInt32? { server?.atom(name) }

  // MARK: Receiving

  /// Handles everything that has arrived, and sends the requests that the handlers make.
  ///
  /// libxcb also reads replies while it looks for events and while it sends. It can therefore hold
  /// replies although the socket is not readable, so the function repeats until it finds nothing
  /// new.
  private func poll() {
    var hasFound = true
    while hasFound, let server {
      let found = takeEvents(server) + takeReplies(server)
      guard xcb_connection_has_error(server.connection) == 0 else { return end(.closed) }
      hasFound = found > 0
      if hasFound { report(.caughtUp) }
      // The handler may have closed the connection.
      if self.server != nil { xcb_flush(server.connection) }
    }
  }

  private func takeEvents(_ server: XServer) -> Int {
    var count = 0
    while self.server != nil, let event = xcb_poll_for_event(server.connection) {
      defer { free(event) }
      count += 1
      if let event = Self.event(event) { report(.event(event)) }
    }
    return count
  }

  private func takeReplies(_ server: XServer) -> Int {
    var count = 0
    while self.server != nil, let (sequence, handler) = pending.first {
      var reply: UnsafeMutableRawPointer?
      var error: UnsafeMutablePointer<xcb_generic_error_t>?
      guard xcb_poll_for_reply(server.connection, sequence, &reply, &error) != 0,
        xcb_connection_has_error(server.connection) == 0
      else { break }
      defer {
        free(reply)
        free(error)
      }
      pending.removeFirst()
      count += 1
      handler(reply)
    }
    return count
  }

  private static func event(_ event: UnsafeMutablePointer<xcb_generic_event_t>) -> XEvent? {
    let raw = UnsafeRawPointer(event)
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_PROPERTY_NOTIFY:
      let event = raw.assumingMemoryBound(to: xcb_property_notify_event_t.self).pointee
      return .property(window: event.window, atom: event.atom)
    case XCB_MAP_NOTIFY:
      let event = raw.assumingMemoryBound(to: xcb_map_notify_event_t.self).pointee
      return .mapping(window: event.window)
    case XCB_UNMAP_NOTIFY:
      let event = raw.assumingMemoryBound(to: xcb_unmap_notify_event_t.self).pointee
      return .mapping(window: event.window)
    case XCB_DESTROY_NOTIFY:
      let event = raw.assumingMemoryBound(to: xcb_destroy_notify_event_t.self).pointee
      return .mapping(window: event.window)
    // Ignore all other events, such as the error of a request that has no reply. Such a request
    // fails if its window is gone.
    default: return nil
    }
  }

  // MARK: Requests

  private func expect(_ sequence: UInt32, _ handler: @escaping ReplyHandler) {
    pending.append((sequence, handler))
  }

  /// Selects the events about changed properties of a window. For any window but the root, also
  /// selects the events about mapping and unmapping.
  func selectEvents(of window: UInt32) {
    guard let server else { return }
    var mask = XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue
    if window != server.root { mask |= XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue }
    xcb_change_window_attributes(server.connection, window, XCB_CW_EVENT_MASK.rawValue, &mask)
  }

  /// The maximum length of a property that is read: 4 kB.
  private static let propertyWordsMax: UInt32 = 1024

  /// Reads a property. Passes nil if the window is gone or has no such property.
  func readProperty(
    _ name: XAtom, of window: UInt32, _ handler: @escaping (XProperty?) -> Void
  ) {
    guard let server else { return }
    let cookie = xcb_get_property(
      server.connection, 0, window, server.atom(name), XCB_GET_PROPERTY_TYPE_ANY.rawValue, 0,
      Self.propertyWordsMax)
    expect(cookie.sequence) { reply in
      let reply = reply?.assumingMemoryBound(to: xcb_get_property_reply_t.self)
      guard let reply, reply.pointee.type != XCB_NONE, let value = xcb_get_property_value(reply)
      else { return handler(nil) }
      let bytes = UnsafeRawBufferPointer(
        start: value, count: Int(xcb_get_property_value_length(reply)))
      switch reply.pointee.format {
      case 32: handler(XProperty(numbers: Array(bytes.bindMemory(to: UInt32.self))))
      case 8: handler(XProperty(bytes: Array(bytes)))
      default: handler(nil)
      }
    }
  }

  /// Reads whether a window and all its ancestors are mapped. Passes nil if the window is gone.
  func readIsViewable(_ window: UInt32, _ handler: @escaping (Bool?) -> Void) {
    guard let server else { return }
    let cookie = xcb_get_window_attributes(server.connection, window)
    expect(cookie.sequence) { reply in
      let reply = reply?.assumingMemoryBound(to: xcb_get_window_attributes_reply_t.self)
      handler(reply.map { UInt32($0.pointee.map_state) == XCB_MAP_STATE_VIEWABLE.rawValue })
    }
  }

  /// Reads the pid of the client that created a window, as the server took it from the client's
  /// socket. Passes nil for a client on another machine, or if the window is gone.
  func readPID(of window: UInt32, _ handler: @escaping (Int32?) -> Void) {
    guard let server else { return }
    let mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID.rawValue
    var spec = xcb_res_client_id_spec_t(client: window, mask: mask)
    let cookie = xcb_res_query_client_ids(server.connection, 1, &spec)
    expect(cookie.sequence) { reply in
      let reply = reply?.assumingMemoryBound(to: xcb_res_query_client_ids_reply_t.self)
      guard let reply else { return handler(nil) }
      var ids = xcb_res_query_client_ids_ids_iterator(reply)
      while ids.rem > 0, let id = ids.data {
        if id.pointee.spec.mask == mask, xcb_res_client_id_value_value_length(id) == 1,
          let value = xcb_res_client_id_value_value(id)
        {
          return handler(Int32(exactly: value.pointee))
        }
        xcb_res_client_id_value_next(&ids)
      }
      handler(nil)
    }
  }

  /// Sends the requests that were made outside of a handler.
  func flush() {
    guard source != nil, server != nil else { return }
    poll()
  }
}
