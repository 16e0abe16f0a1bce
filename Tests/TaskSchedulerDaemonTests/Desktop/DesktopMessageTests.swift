import EventLoop
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Three Unicode noncharacters. A string literal cannot contain noncharacters.
let noCharacters = String(
  String.UnicodeScalarView([0xFDD0, 0xFFFF, 0x10FFFE].compactMap { Unicode.Scalar($0 as UInt32) }))

@Suite("Requests to a notification service")
struct DesktopMessageTests {
  private func notification(_ title: String, _ body: String = "") throws -> DesktopNotification {
    let id = try #require(ApplicationID("org.example.mail"))
    return DesktopNotification(
      id: NotificationID(1), application: ApplicationKey(id, owner: UserID(1000)), title: title,
      body: body)
  }

  private func message(
    _ title: String, _ body: String = "", _ capabilities: DesktopCapabilities = [.body]
  ) throws -> DesktopMessage {
    DesktopMessage(try notification(title, body), replacing: 0, for: capabilities)
  }

  @Test(
    """
    If the service reads the body as markup, &, < and > in the body are escaped; a title is not \
    escaped
    """)
  func markup() throws {
    let text = "a < b && <b>c</b>"
    let escaped = "a &lt; b &amp;&amp; &lt;b&gt;c&lt;/b&gt;"
    #expect(try message(text, text).body == text)
    #expect(try message(text, text, [.body, .bodyMarkup]).body == escaped)
    #expect(try message(text, text, [.body, .bodyMarkup]).summary == text)
  }

  @Test("If the service shows no body, the title contains the text of the body")
  func noBody() throws {
    #expect(try message("Title", "text\nmore", []).summary == "Title: text more")
    #expect(try message("Title", "text", []).body == "")
    #expect(try message("", "text", []).summary == "text")
  }

  @Test("A notification without a title has the application's name or id as title")
  func noTitle() throws {
    #expect(try message("", "text").summary == "org.example.mail")
    var named = try notification("", "text")
    named.applicationName = "Mail"
    let message = DesktopMessage(named, replacing: 7, for: [.body])
    #expect(message.summary == "Mail")
    #expect(message.applicationName == "Mail")
    #expect(message.replaces == 7)
  }

  @Test("A notification can be chosen if the service has actions")
  func actions() throws {
    #expect(try message("a").actions == [])
    #expect(try message("a", "", [.actions]).actions.first == "default")
  }

  @Test("A sound is the name of a sound or a file; without a sound, the service stays silent")
  func sound() throws {
    var notification = try notification("a")
    func hints(_ capabilities: DesktopCapabilities) -> [DesktopMessage.Hint] {
      DesktopMessage(notification, replacing: 0, for: capabilities).hints
    }
    #expect(hints([.sound]).contains(.flag("suppress-sound", true)))
    notification.sound = "message-new-instant"
    #expect(hints([.sound]).contains(.text("sound-name", "message-new-instant")))
    notification.sound = "/usr/share/sounds/bell.oga"
    #expect(hints([.sound]).contains(.text("sound-file", "/usr/share/sounds/bell.oga")))
    #expect(hints([]).count == 2, "a service without sounds gets no sound hints")
  }

  @Test("Urgency, the application and the category are hints")
  func hints() throws {
    var notification = try notification("a")
    notification.urgency = .critical
    notification.category = "im.received"
    let hints = DesktopMessage(notification, replacing: 0, for: []).hints
    #expect(
      hints == [
        .byte("urgency", 2), .text("desktop-entry", "org.example.mail"),
        .text("category", "im.received"),
      ])
  }

  @Test(
    "A text has no NUL, control character or Unicode noncharacter",
    arguments: [
      ("a\0b", "a\u{FFFD}b"), ("\u{1B}[2J", "\u{FFFD}[2J"), ("a\r\nb\rc\nd", "a b c d"),
      ("a\tb", "a b"), (noCharacters, "\u{FFFD}\u{FFFD}\u{FFFD}"),
      ("a\u{2028}b\u{85}", "a b\u{FFFD}"), ("grüße 👩‍👩‍👧 ", "grüße 👩‍👩‍👧 "),
    ])
  func cleaned(_ text: String, _ cleaned: String) {
    #expect(DesktopText.line(text, bytesMax: 100) == cleaned)
  }

  @Test("A body keeps its line breaks")
  func lines() {
    #expect(DesktopText.lines("a\r\nb\rc\nd", bytesMax: 100) == "a\nb\nc\nd")
  }

  @Test(
    "The length of a text in bytes is limited, whatever characters it contains",
    arguments: ["a", "é", "👍", "\u{301}", "\0"])
  func bounded(_ sign: String) {
    let text = String(repeating: sign, count: 1000)
    for bytesMax in 3..<40 {
      let bounded = DesktopText.line(text, bytesMax: bytesMax)
      #expect(bounded.utf8.count <= bytesMax)
      #expect(bounded.utf8.count > bytesMax - 7)
      #expect(bounded.hasSuffix("…") || bounded.unicodeScalars.last == "…")
    }
    let fits = String(repeating: "a", count: 10)
    #expect(DesktopText.line(fits, bytesMax: 10) == fits)
  }

  @Test("Unknown capabilities of a service are ignored")
  func capabilities() {
    let all = DesktopCapabilities.named(["body", "x-odd", "actions", "body-markup", "", "sound"])
    #expect(all == [.body, .actions, .bodyMarkup, .sound])
  }
}

@Suite("Addresses of session buses")
struct DesktopAddressTests {
  private let user = UserID(1000)

  @Test("A user's daemon uses $DBUS_SESSION_BUS_ADDRESS, or the socket in $XDG_RUNTIME_DIR")
  func ofUser() {
    func usual(_ environment: [String: String]) -> String? {
      DesktopAddresses.usual(for: .user, environment: environment)?.address(of: user)?.text
    }
    let runtime = ["XDG_RUNTIME_DIR": "/run/user/1000"]
    #expect(usual(runtime) == "unix:path=/run/user/1000/bus")
    let named = "unix:path=/tmp/bus,guid=0123456789abcdef0123456789abcdef"
    let both = runtime.merging(["DBUS_SESSION_BUS_ADDRESS": named]) { $1 }
    #expect(usual(both) == "unix:path=/tmp/bus", "another bus may come in its place")
    #expect(usual([:]) == nil)
    #expect(usual(["XDG_RUNTIME_DIR": "run"]) == nil)
    #expect(usual(["XDG_RUNTIME_DIR": "/a b,c"]) == "unix:path=/a%20b%2cc/bus")
  }

  @Test("The system's daemon uses each user's own bus, which must belong to that user")
  func ofSystem() {
    let address = DesktopAddresses.usual(for: .system, environment: [:])?.address(of: user)
    #expect(address == BusAddress(text: "unix:path=/run/user/1000/bus", owner: 1000))
  }

  @Test(
    "Addresses that would start a program or ask a name server are not used",
    arguments: ["autolaunch:", "unixexec:path=/bin/true", "tcp:host=example.org,port=1", "", ";"])
  func refused(_ address: String) {
    #expect(DesktopAddresses.one(address).address(of: user) == nil)
    let both = DesktopAddresses.one(address + ";unix:abstract=/x").address(of: user)
    #expect(both?.text == "unix:abstract=/x")
  }
}
