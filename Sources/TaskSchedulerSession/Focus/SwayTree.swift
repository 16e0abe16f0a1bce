import TaskSchedulerWire

/// A defect of sway's tree of windows.
package enum SwayTreeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// In the node with the id `node`, the field with this name is missing or has a value of another
  /// type.
  case field(String, node: Int64?)

  package var description: String {
    switch self {
    case .field(let field, let node):
      "\"\(field)\" is missing or has the wrong type in node \(node.map(String.init) ?? "unknown")"
    }
  }
}

/// A window in sway's tree.
package struct SwayWindow: Hashable, Sendable {
  /// The id of the window's node, which no other node has while sway runs.
  package var id: Int64
  /// The client that the window belongs to.
  package var client: SwayClient
  package var visibility: WindowVisibility
  package var applicationID: String?
}

/// The client that a window in sway's tree belongs to.
package enum SwayClient: Hashable, Sendable {
  /// A Wayland client. sway took the pid from the client's socket.
  case wayland(pid: Int32)
  /// An X11 window in Xwayland. Only the X server knows its process, because sway (1.7) passes on
  /// the pid that the window itself claims (_NET_WM_PID).
  case x(window: UInt32)
}

/// The windows in the tree with which sway answers GET_TREE.
package enum SwayTree {
  /// Returns the windows, of which at most one is focused.
  ///
  /// sway marks one node of the tree as focused. After `focus parent`, this node is a container of
  /// windows. The window that last had the focus in the container then counts as focused.
  package static func windows(_ tree: JSONValue) throws(SwayTreeError) -> [SwayWindow] {
    var reader = Reader()
    try reader.visit(tree, isFocused: false)
    return reader.windows
  }

  /// A walk through the tree. The JSON parser limits the depth of the tree.
  private struct Reader {
    var windows: [SwayWindow] = []
    private var hasFocused = false

    mutating func visit(_ node: JSONValue, isFocused inherited: Bool) throws(SwayTreeError) {
      let id = try integer("id", in: node)
      let isMarked = try bool("focused", in: node)
      let isFocused = inherited || isMarked
      if let client = try client(of: node, id) {
        let isVisible = try bool("visible", in: node)
        windows.append(
          SwayWindow(
            id: id, client: client,
            visibility: isFocused && !hasFocused ? .focused : isVisible ? .visible : .hidden,
            applicationID: applicationID(of: node)))
        hasFocused = hasFocused || isFocused
      }
      var lastFocused: Int64?
      if isFocused, case .array(let order)? = node["focus"],
        case .integer(let first)? = order.first
      {
        lastFocused = first
      }
      for list in ["nodes", "floating_nodes"] {
        guard case .array(let children)? = node[list] else { throw .field(list, node: id) }
        for child in children {
          let isLast = try lastFocused == integer("id", in: child)
          try visit(child, isFocused: isLast)
        }
      }
    }

    /// Returns the client of the window at a node; nil for a node that is not a window.
    private func client(of node: JSONValue, _ id: Int64) throws(SwayTreeError) -> SwayClient? {
      if case .integer(let window)? = node["window"] {
        guard let window = UInt32(exactly: window) else { throw .field("window", node: id) }
        return .x(window: window)
      }
      guard let value = node["pid"], value != .null else { return nil }
      guard case .integer(let number) = value, let pid = Int32(exactly: number) else {
        throw .field("pid", node: id)
      }
      return .wayland(pid: pid)
    }

    private func applicationID(of node: JSONValue) -> String? {
      switch (node["app_id"], node["window_properties"]?["class"]) {
      case (.string(let id), _), (_, .string(let id)): id
      case (_, _): nil
      }
    }

    private func integer(
      _ name: String, in node: JSONValue
    ) throws(SwayTreeError) -> Int64 {
      if case .integer(let value)? = node[name] { return value }
      var id: Int64?
      if case .integer(let value)? = node["id"] { id = value }
      throw .field(name, node: id)
    }

    private func bool(_ name: String, in node: JSONValue) throws(SwayTreeError) -> Bool {
      if case .bool(let value)? = node[name] { return value }
      throw .field(name, node: try integer("id", in: node))
    }
  }
}
