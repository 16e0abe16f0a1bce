import TestSupport
import Testing

@testable import TaskSchedulerSession

/// Three Unicode noncharacters. A string literal cannot contain noncharacters.
let noCharacters = String(
  String.UnicodeScalarView([0xFDD0, 0xFFFF, 0x10FFFE].compactMap { Unicode.Scalar($0 as UInt32) }))

@Suite("Requests to a notification service")
struct DesktopMessageTests {
  private func notification(_ title: String, _ body: String = "") -> PresentedNotification {
    var notification = PresentedNotification.sample(1, title, body: body)
    notification.content.applicationName = nil
    return notification
  }

  private func message(
    _ title: String, _ body: String = "", _ capabilities: DesktopCapabilities = [.body]
  ) -> DesktopMessage {
    DesktopMessage(notification(title, body), replacing: 0, for: capabilities)
  }

  @Test(
    """
    If the service reads the body as markup, &, < and > in the body are escaped; a title is not \
    escaped
    """)
  func markup() throws {
    let text = "a < b && <b>c</b>"
    let escaped = "a &lt; b &amp;&amp; &lt;b&gt;c&lt;/b&gt;"
    #expect(message(text, text).body == text)
    #expect(message(text, text, [.body, .bodyMarkup]).body == escaped)
    #expect(message(text, text, [.body, .bodyMarkup]).summary == text)
  }

  @Test("If the service shows no body, the title contains the text of the body")
  func noBody() throws {
    #expect(message("Title", "text\nmore", []).summary == "Title: text more")
    #expect(message("Title", "text", []).body == "")
    #expect(message("", "text", []).summary == "text")
  }

  @Test("A notification without a title has the application's name or id as title")
  func noTitle() throws {
    #expect(message("", "text").summary == "org.example.mail")
    var named = notification("", "text")
    named.content.applicationName = "Mail"
    let message = DesktopMessage(named, replacing: 7, for: [.body])
    #expect(message.summary == "Mail")
    #expect(message.applicationName == "Mail")
    #expect(message.replaces == 7)
  }

  @Test("A notification and its actions can be chosen if the service has actions")
  func actions() throws {
    var notification = notification("a")
    notification.content.actions = [.init(id: "default", title: "Reply"), .init(id: "", title: "")]
    #expect(DesktopMessage(notification, replacing: 0, for: [.body]).actions == [])
    let actions = DesktopMessage(notification, replacing: 0, for: [.actions]).actions
    #expect(actions == ["default", "Open", "action.default", "Reply", "action.", ""])
    #expect(DesktopMessage.action(forKey: "default") == .some(nil))
    #expect(DesktopMessage.action(forKey: "action.default") == .some("default"))
    #expect(DesktopMessage.action(forKey: "other") == nil)
  }

  @Test("A sound is the name of a sound or a file; without a sound, the service stays silent")
  func sound() throws {
    var notification = notification("a")
    func hints(_ capabilities: DesktopCapabilities) -> [DesktopMessage.Hint] {
      DesktopMessage(notification, replacing: 0, for: capabilities).hints
    }
    #expect(hints([.sound]).contains(.flag("suppress-sound", true)))
    notification.content.sound = "message-new-instant"
    #expect(hints([.sound]).contains(.text("sound-name", "message-new-instant")))
    notification.content.sound = "/usr/share/sounds/bell.oga"
    #expect(hints([.sound]).contains(.text("sound-file", "/usr/share/sounds/bell.oga")))
    #expect(hints([]).count == 2, "a service without sounds gets no sound hints")
    notification.content.sound = "default"
    #expect(hints([.sound]).count == 2, "the service chooses the sound")
    notification.isSilent = true
    #expect(hints([.sound]).contains(.flag("suppress-sound", true)))
  }

  @Test("An icon is a name, or a file as a URI")
  func icon() {
    var notification = notification("a")
    func icon() -> String { DesktopMessage(notification, replacing: 0, for: []).icon }
    #expect(icon() == "")
    notification.content.icon = "mail-unread"
    #expect(icon() == "mail-unread")
    notification.content.icon = "/usr/share/pixmaps/a b.png"
    #expect(icon() == "file:///usr/share/pixmaps/a%20b.png")
  }

  @Test("Urgency, the application and the category are hints")
  func hints() throws {
    var notification = notification("a")
    notification.content.urgency = .critical
    notification.content.category = "im.received"
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
