import Testing

@testable import TaskSchedulerSession

@Suite("§20: The visibility of X11 windows")
struct XDesktopTests {
  private func visibility(
    _ window: XWindow, _ manager: String, current: UInt32? = 0, active: UInt32? = nil
  ) -> WindowVisibility {
    XDesktop(windowManager: manager, activeWindow: active, currentDesktop: current)
      .visibility(of: window)
  }

  private let shown = XWindow(id: 5, isViewable: true, desktop: 0)

  @Test("A mapped window is visible, and the active window is focused")
  func shownWindow() {
    #expect(visibility(shown, "i3") == .visible)
    #expect(visibility(shown, "i3", active: 5) == .focused)
    #expect(visibility(shown, "i3", active: 0) == .visible)
  }

  @Test("A window is hidden if it is not viewable, or if the window manager says so")
  func hidden() {
    #expect(visibility(XWindow(id: 5, isViewable: false, desktop: 0), "i3") == .hidden)
    #expect(
      visibility(XWindow(id: 5, isViewable: true, isHidden: true, desktop: 0), "i3") == .hidden)
  }

  @Test(
    "If the window manager keeps windows mapped, the windows of another desktop are hidden",
    arguments: ["GNOME Shell", "KWin", "Mutter (Muffin)"])
  func kept(_ manager: String) {
    #expect(visibility(shown, manager, current: 1) == .hidden)
    #expect(visibility(shown, manager, current: 0) == .visible)
    #expect(visibility(shown, manager, current: nil) == .visible)
    #expect(visibility(XWindow(id: 5, isViewable: true), manager, current: 1) == .visible)
  }

  @Test(
    "Under other window managers, a mapped window of another desktop is visible on another output")
  func outputs() {
    #expect(visibility(shown, "i3", current: 1) == .visible)
    #expect(visibility(shown, "", current: 1) == .visible)
  }
}

@Suite("§20: The snapshot of a session's windows")
struct SessionWindowsTests {
  @Test("Of too many windows, hidden windows are left out first")
  func bounded() {
    func windows(_ count: Int, _ visibility: WindowVisibility) -> [SessionWindow] {
      (0..<count).map {
        SessionWindow(process: nil, visibility: visibility, applicationID: "\($0)")
      }
    }
    let all = windows(2000, .hidden) + windows(3, .visible) + windows(1, .focused)
    let snapshot = SessionWindows(all)
    #expect(snapshot.windows.count == SessionWindows.countMax)
    #expect(snapshot.windows.count { $0.visibility == .visible } == 3)
    #expect(snapshot.focused?.applicationID == "0")
  }

  @Test("An application id is dropped if it is empty or longer than 256 bytes")
  func longID() {
    func id(_ text: String) -> String? {
      SessionWindow(process: nil, visibility: .visible, applicationID: text).applicationID
    }
    #expect(id("org.example.editor") == "org.example.editor")
    #expect(id(String(repeating: "a", count: 256)) != nil)
    #expect(id(String(repeating: "a", count: 257)) == nil)
    #expect(id("") == nil)
  }
}
