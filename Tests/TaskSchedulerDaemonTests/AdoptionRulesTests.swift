import LinuxSystem
import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

@Suite("§20: The rules of adoption")
struct AdoptionRulesTests {
  @Test(
    "A reverse-DNS name of three labels is the id, and any other app id gets the prefix desktop.",
    arguments: [
      ("org.gnome.TextEditor", "org.gnome.TextEditor"), ("foot", "desktop.foot"),
      ("Gimp-2.10", "desktop.Gimp-2-10"), ("notepad.exe", "desktop.notepad-exe"),
      ("org.2.x", "desktop.org-2-x"), ("a b/c", "desktop.a-b-c"), ("", nil),
    ])
  func applicationID(_ appID: String, _ id: String?) {
    #expect(AdoptionRules.application(for: appID)?.name == id)
  }

  @Test("The longest app id gets a valid id")
  func longest() {
    let id = AdoptionRules.application(for: String(repeating: "x", count: 256))
    #expect(id?.name.utf8.count == ApplicationID.bytesMax)
  }

  @Test("A name of the list also matches a command name that the kernel has cut to 15 bytes")
  func cutNames() {
    var settings = AdoptionSettings()
    #expect(AdoptionRules.isNever(command: "xdg-desktop-por", settings))
    #expect(!AdoptionRules.isNever(command: "firefox-esr", settings))
    settings.never = ["gnome-system-monitor"]
    #expect(AdoptionRules.isNever(command: "gnome-system-mo", settings))
    #expect(AdoptionRules.isNever(appID: "gnome-system-monitor", settings))
  }

  @Test(
    "The sockets of audio servers and sound devices count as audio",
    arguments: [
      ("/run/user/1000/pulse/native", true), ("/run/user/1000/pipewire-0", true),
      ("/dev/snd/pcmC0D0p", true), ("/dev/shm/jack_default_1000_0", true),
      ("/run/user/1000/bus", false), ("/dev/snd/controlC0", false),
      ("/run/taskschedd/socket", false),
    ])
  func audio(_ name: String, _ isAudio: Bool) {
    #expect(AdoptionRules.isAudio(name) == isAudio)
  }
}
