import FoundationEssentials
import TaskSchedulerSession
import TaskSchedulerWire
import Testing

/// Tests with trees that were recorded from sway 1.7 with two outputs. A tree says of each window
/// whether it is visible. The recordings omit most members that the agent does not read.
@Suite("§20: The windows in sway's tree, in recorded messages")
struct SwayTreeTests {
  private static let directory =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    .joined(separator: "/") + "/Recorded"

  private func tree(_ name: String) throws -> JSONValue {
    let data = try Data(contentsOf: URL(filePath: "\(Self.directory)/\(name).json"))
    return try JSONParser.parse(Array(data))
  }

  /// Returns the ids of the windows in a recorded tree that have the given visibility.
  private func ids(_ name: String, _ visibility: WindowVisibility) throws -> [Int64] {
    try SwayTree.windows(tree(name)).filter { $0.visibility == visibility }.map(\.id).sorted()
  }

  @Test("Each window has its client, and the class or app id of the application")
  func clients() throws {
    let windows = try SwayTree.windows(tree("sway-two-outputs"))
    #expect(
      windows.map(\.client) == [
        .wayland(pid: 25147), .wayland(pid: 25160), .x(window: 4_194_305), .wayland(pid: 5981),
      ])
    #expect(windows.map(\.applicationID) == ["foot", "second", nil, "third"])
  }

  @Test("Windows behind another tab are hidden")
  func tabs() throws {
    #expect(try ids("sway-tabbed-and-floating", .focused) == [7])
    #expect(try ids("sway-tabbed-and-floating", .visible) == [13])
    #expect(try ids("sway-tabbed-and-floating", .hidden) == [8, 12])
  }

  @Test(
    "A full-screen window hides the windows of its output, a global one the windows of all outputs")
  func fullscreen() throws {
    #expect(try ids("sway-fullscreen", .focused) == [8])
    #expect(try ids("sway-fullscreen", .visible) == [13])
    #expect(try ids("sway-fullscreen-global", .visible) == [])
    #expect(try ids("sway-fullscreen-global", .hidden) == [7, 12, 13])
  }

  @Test("On an empty workspace, no window is focused, and windows in the scratchpad are hidden")
  func empty() throws {
    #expect(try ids("sway-empty-and-scratchpad", .focused) == [])
    #expect(try ids("sway-empty-and-scratchpad", .visible) == [13])
    #expect(try ids("sway-empty-and-scratchpad", .hidden) == [7, 8, 12])
    #expect(try ids("sway-scratchpad-shown", .focused) == [8])
  }

  @Test("If a container has the focus, its last focused window counts as focused")
  func container() throws {
    #expect(try ids("sway-parent-focused", .focused) == [7])
    #expect(try ids("sway-parent-focused", .visible) == [13])
  }

  @Test(
    "A tree without a needed member is refused, and the error names the member and the node",
    arguments: [
      (#"{}"#, SwayTreeError.field("id", node: nil)),
      (#"[]"#, .field("id", node: nil)),
      (#"{"id":1}"#, .field("focused", node: 1)),
      (#"{"id":1,"focused":1}"#, .field("focused", node: 1)),
      (#"{"id":1,"focused":false}"#, .field("nodes", node: 1)),
      (#"{"id":1,"focused":false,"nodes":[]}"#, .field("floating_nodes", node: 1)),
      (#"{"id":1,"focused":false,"nodes":[7],"floating_nodes":[]}"#, .field("id", node: nil)),
      (#"{"id":1,"focused":false,"pid":2,"nodes":[],"floating_nodes":[]}"#,
        .field("visible", node: 1)),
      (#"{"id":1,"focused":false,"pid":4294967296}"#, .field("pid", node: 1)),
      (#"{"id":1,"focused":false,"pid":"2"}"#, .field("pid", node: 1)),
      (#"{"id":1,"focused":false,"window":-1}"#, .field("window", node: 1)),
    ])
  func malformed(_ text: String, _ error: SwayTreeError) throws {
    let value = try JSONParser.parse(Array(text.utf8))
    #expect(throws: error) { try SwayTree.windows(value) }
  }

  @Test("At most one window is focused, whatever a tree says")
  func oneFocused() throws {
    let window = #"{"id":2,"focused":true,"visible":true,"pid":2,"nodes":[],"floating_nodes":[]}"#
    let text = #"{"id":1,"focused":false,"nodes":[\#(window),\#(window)],"floating_nodes":[]}"#
    let windows = try SwayTree.windows(JSONParser.parse(Array(text.utf8)))
    #expect(windows.map(\.visibility) == [.focused, .visible])
  }
}
