import LinuxSystem
import TaskSchedulerCore

/// The rules by which the daemon adopts programs with windows.
enum AdoptionRules {
  /// The number of bytes after which the kernel cuts the name of a program (TASK_COMM_LEN).
  private static let commandBytesMax = 15

  /// The names of programs that the daemon never adopts, because the session needs them: the
  /// compositor and the shell, audio servers, input methods, portals, and programs that ask for a
  /// password.
  static let builtInNames: Set<String> = [
    // Compositors, X servers and window managers.
    "sway", "i3", "Hyprland", "hyprland", "river", "labwc", "wayfire", "weston", "niri", "cage",
    "phoc", "phosh", "gnome-shell", "mutter", "kwin_wayland", "kwin_x11", "plasmashell", "Xorg",
    "Xwayland", "xwayland-satellite", "openbox", "fluxbox", "bspwm", "awesome", "dwm", "xfwm4",
    "marco", "muffin", "cinnamon", "metacity", "compiz", "lxqt-session",
    // Parts of a shell: panels, desktops, launchers, lockers, notifications, the session agent.
    "swaybar", "swaybg", "swaylock", "swayidle", "i3bar", "i3lock", "waybar", "polybar",
    "xfce4-panel", "xfdesktop", "mate-panel", "caja-desktop", "lxqt-panel", "pcmanfm-desktop",
    "wofi", "rofi", "fuzzel", "bemenu", "dmenu", "gtklock", "hyprlock", "xscreensaver",
    "light-locker", "dunst", "mako", "swaync", "taskschedd-session", "krunner", "ksmserver",
    "ksplashqml", "gsd-media-keys", "gnome-screensaver",
    // Audio servers.
    "pulseaudio", "pipewire", "pipewire-pulse", "wireplumber", "pipewire-media-session", "jackd",
    "jackdbus",
    // Input methods and keyboards on the screen.
    "ibus-daemon", "ibus-x11", "ibus-ui-gtk3", "ibus-extension-gtk3", "fcitx", "fcitx5", "uim-xim",
    "squeekboard", "onboard", "wvkbd-mobintl", "maliit-keyboard", "orca",
    // Portals, and programs that ask for a password.
    "xdg-desktop-portal", "xdg-desktop-portal-gtk", "xdg-desktop-portal-gnome",
    "xdg-desktop-portal-kde", "xdg-desktop-portal-wlr", "xdg-document-portal",
    "polkit-gnome-authentication-agent-1", "polkit-kde-authentication-agent-1", "lxpolkit",
    "mate-polkit", "gcr-prompter", "pinentry", "pinentry-gtk-2", "pinentry-gnome3", "pinentry-qt",
    "ssh-askpass", "kwalletd5", "kwalletd6", "gnome-keyring-daemon",
  ]

  private static let builtInCommands = Set(builtInNames.map { command($0) })

  /// Returns the name of a program as the kernel reports it.
  private static func command(_ name: String) -> String {
    String(decoding: name.utf8.prefix(commandBytesMax), as: UTF8.self)
  }

  /// Returns whether the daemon never adopts a program with this name. The name comes from the
  /// kernel, which cuts long names.
  static func isNever(command name: String, _ settings: AdoptionSettings) -> Bool {
    builtInCommands.contains(name) || settings.never.contains { command($0) == name }
  }

  /// Returns whether the daemon never adopts a program with this app id.
  static func isNever(appID: String, _ settings: AdoptionSettings) -> Bool {
    builtInNames.contains(appID) || settings.never.contains(appID)
  }

  /// Returns the application id for a desktop's app id. If the app id is a reverse-DNS name with at
  /// least three labels, such as `org.gnome.TextEditor`, it is also the application id. Otherwise,
  /// the application id is `desktop.` followed by the app id, cut to the maximum length. `-`
  /// replaces each byte that a label cannot contain: `desktop.foot`, `desktop.Gimp-2-10`.
  ///
  /// - Returns: nil for an empty app id.
  static func application(for appID: String) -> ApplicationID? {
    let labels = appID.split(separator: ".", omittingEmptySubsequences: false)
    let isReverseDNS = labels.count >= 3
      && labels.allSatisfy { $0.utf8.first.map { isLetter($0) } ?? false }
    if isReverseDNS, let id = ApplicationID(appID) { return id }
    let room = ApplicationID.bytesMax - "desktop.".utf8.count
    let label = appID.utf8.prefix(room).map {
      ApplicationID.isLabelByte($0) ? $0 : UInt8(ascii: "-")
    }
    return ApplicationID("desktop." + String(decoding: label, as: UTF8.self))
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Returns whether a socket or device belongs to an audio server or to sound hardware.
  ///
  /// - Parameter name: The path of the server's socket, or of the device.
  static func isAudio(_ name: String) -> Bool {
    if name.hasPrefix("/dev/snd/pcm") { return true }
    let last = name.split(separator: "/").last ?? ""
    return name.hasSuffix("/pulse/native") || last.hasPrefix("pipewire-")
      || last.hasPrefix("jack_") || name.hasPrefix("@jack")
  }

  /// Returns whether a socket belongs to a daemon of this project.
  static func isDaemon(_ name: String, own socketPath: String) -> Bool {
    name == socketPath || name.hasSuffix("/taskschedd/socket")
  }
}

extension AdoptionRules {
  /// The reason for not managing a program that is connected to an audio server.
  static func audioReason(_ name: String) -> String {
    "it is connected to the audio server at \(PrintableText.quoted(name))"
  }

  /// Returns the reason why the daemon must not suspend an adopted program; nil if there is none.
  ///
  /// - Parameter terminal: The controlling terminal of the leader.
  static func reasonForRelease(
    _ findings: DescriptorScan.Findings, terminal: TerminalDevice?
  ) -> String? {
    if let audio = findings.servers.first(where: { isAudio($0) }) { return audioReason(audio) }
    return findings.terminals.first { $0 != terminal }.map {
      "it is a terminal in which a program runs (\($0.name))"
    }
  }
}
