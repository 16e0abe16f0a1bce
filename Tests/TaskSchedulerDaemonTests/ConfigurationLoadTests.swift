import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

@Suite("Reading taskschedd.toml")
struct ConfigurationLoadTests {
  @Test("Without any settings file, all settings have their defaults, and no problem is reported")
  func defaults() {
    let fixture = ConfigurationFixture()
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    #expect(configuration == Configuration())
    #expect(configuration.effectiveSettings.allSatisfy { $0.source == .builtIn })
    #expect(configuration.effectiveSettings.allSatisfy { $0.value == $0.default })
  }

  private static let texts: [String: (written: String, shown: String)] = [
    "suspend-mechanism": ("\"freezer\"", "freezer"), "suspend-timeout": ("\"3s\"", "3s"),
    "multitasking-supported": ("false", "false"), "operator-group": ("\"wheel\"", "wheel"),
    "log-level": ("\"debug\"", "debug"), "policy.CallbackTimeout": ("\"1min 1s\"", "1min 1s"),
    "policy.TerminateTimeout": ("1.5", "1s 500ms"), "policy.BackgroundTime": ("900", "15min"),
    "policy.ExpirationLead": ("\"10s\"", "10s"), "policy.LaunchTime": ("\"11s\"", "11s"),
    "policy.SuspendRetryInterval": ("\"12s\"", "12s"),
    "policy.TracerCheckInterval": ("\"13s\"", "13s"), "policy.WakeTolerance": ("\"18s\"", "18s"),
    "policy.MaxTasksPerApplication": ("14", "14"), "policy.MaxTasksPerUser": ("19", "19"),
    "policy.MaxQueuedBytesPerUser": ("\"128K\"", "128K"),
    "policy.MaxUnfinishedBytesPerUser": ("\"192K\"", "192K"),
    "policy.MaxUnfinishedDescriptorsPerUser": ("35", "35"),
    "policy.MaxMonitorsPerUser": ("36", "36"), "policy.MaxSnapshotsPerUser": ("40", "40"),
    "policy.MaxApplicationsPerUser": ("15", "15"), "policy.MaxQueuedCallbacks": ("16", "16"),
    "policy.MaxEndedApplications": ("17", "17"), "policy.MaxConnectionsPerUser": ("18", "18"),
    "policy.MaxQueuedBytesPerConnection": ("\"64K\"", "64K"),
    "launch-mechanism": ("\"child\"", "child"),
    "policy.KeepAliveMinimum": ("\"20min\"", "20min"),
    "policy.KeepAliveHandlerTime": ("\"31s\"", "31s"),
    "policy.EventTime": ("\"21s\"", "21s"), "policy.RelaunchDelay": ("\"22s\"", "22s"),
    "policy.RelaunchDelayMax": ("\"23min\"", "23min"),
    "policy.RelaunchResetTime": ("\"24min\"", "24min"),
    "policy.MaxSocketsPerApplication": ("25", "25"),
    "policy.MaxNotificationsPerApplication": ("26", "26"),
    "policy.MaxNotificationsPerUser": ("27", "27"),
    "policy.MaxCustomChanges": ("27", "27"),
    "background-priority": ("false", "false"), "background-nice": ("5", "5"),
    "policy.MemoryPressureStall": ("\"28ms\"", "28ms"),
    "policy.MemoryPressureWindow": ("\"2s\"", "2s"),
    "policy.MemoryWarningTime": ("\"29s\"", "29s"), "policy.MemoryQuietTime": ("\"30s\"", "30s"),
    "policy.MemoryFloorPercent": ("31", "31"), "policy.MemoryPageOut": ("true", "true"),
    "policy.BackgroundUseWindow": ("\"32s\"", "32s"),
    "policy.BackgroundGPUTime": ("\"33ms\"", "33ms"),
    "policy.FocusSettleTime": ("\"37ms\"", "37ms"),
    "policy.HiddenGraceTime": ("\"38s\"", "38s"),
    "policy.SessionGraceTime": ("\"39s\"", "39s"),
    "policy.AudioGraceTime": ("\"40s\"", "40s"), "policy.AudioMuteTime": ("\"41ms\"", "41ms"),
    "policy.AudioSilenceTime": ("\"42s\"", "42s"),
    "policy.AudioRecordingNotice": ("false", "false"), "policy.DuckLevel": ("45", "45"),
    "policy.RemoteReadTime": ("\"43ms\"", "43ms"),
    "policy.RemoteReadInterval": ("\"44s\"", "44s"), "focus.adopt": ("\"all\"", "all"),
    "policy.BackgroundProcessorShare": ("34", "34"),
    "policy.ThrottledProcessorShare": ("15", "15"),
    "policy.SharedResources": ("[\"/srv/db\"]", "[\"/srv/db\"]"),
    "policy.CallApplication": ("\"org.example.phone\"", "org.example.phone"),
    "focus.except": ("[\"org.example.editor\"]", "[\"org.example.editor\"]"),
    "focus.never": ("[\"foot\", \"xterm\"]", "[\"foot\", \"xterm\"]"),
    "policy.RegionDwell": ("\"46s\"", "46s"), "policy.LocationFixTime": ("\"47s\"", "47s"),
    "policy.MaxRegionsPerApplication": ("48", "48"), "policy.MaxRegionsPerUser": ("49", "49"),
    "policy.MaxLocationApplicationsPerUser": ("50", "50"),
    "location.allow": ("\"all\"", "all"),
    "location.deny": ("[\"org.example.game\"]", "[\"org.example.game\"]"),
    "location.gpsd": ("\"/run/gpsd.socket\"", "/run/gpsd.socket"),
  ]

  @Test("Every setting is read from the file, and is listed with its value, file and line")
  func everySetting() {
    let texts = Self.texts
    var text = ""
    var lines: [String: Int] = [:]
    for (index, setting) in SettingDescription.all.enumerated() {
      text += "\(setting.fullName) = \(texts[setting.fullName]?.written ?? "missing")\n"
      lines[setting.fullName] = index + 1
    }
    let (configuration, problems) = Configuration.parse(Array(text.utf8), file: "f")
    #expect(problems == [])
    for setting in configuration.effectiveSettings {
      #expect(setting.value == texts[setting.name]?.shown)
      #expect(setting.value != setting.default)
      #expect(setting.source == .file(path: "f", line: lines[setting.name]))
    }
    #expect(configuration.policy.callbackTimeout == .seconds(61))
    #expect(configuration.policy.terminateTimeout == .milliseconds(1500))
    #expect(configuration.policy.backgroundTime == .seconds(900))
    #expect(configuration.policy.multitaskingSupported == false)
    #expect(configuration.options.suspendMechanism == .freezer)
    #expect(configuration.options.queuedBytesPerConnectionMax == 65536)
  }

  @Test("Both bounds of a setting are allowed, and the default is within the bounds")
  func bounds() throws {
    let defaults = Configuration()
    for setting in SettingDescription.all {
      var nodes: [TOMLNode] = []
      switch setting.kind {
      case .timeSpan(let bounds):
        nodes = [bounds.lowerBound, bounds.upperBound].map { .string(TimeSpan.format($0)) }
      case .count(let bounds), .bytes(let bounds):
        nodes = [.integer(bounds.lowerBound), .integer(bounds.upperBound)]
      case .flag: nodes = [.boolean(true), .boolean(false)]
      case .choice(let names): nodes = names.map { .string($0) }
      case .groupName: nodes = [.string(""), .string("wheel")]
      case .applicationID: nodes = [.string(""), .string("org.example.phone")]
      case .paths: nodes = [.array([]), .array([.string("/var/lib/a \"b\".db")])]
      case .programs(let allowsAll):
        nodes = [.array([]), .array([.string("foot")])] + (allowsAll ? [.string("all")] : [])
      case .applications(let allowsAll):
        nodes = [.array([]), .array([.string("org.example.maps")])]
        if allowsAll { nodes.append(.string("all")) }
      case .socketPath: nodes = [.string(""), .string("/" + String(repeating: "x", count: 106))]
      }
      for node in nodes {
        var configuration = defaults
        try setting.set(node, in: &configuration)
      }
      var configuration = defaults
      let text = "\(setting.fullName) = \(setting.tomlText(in: defaults))"
      let root = TOMLDocument.parse(Array(text.utf8), file: "f").document?.root ?? [:]
      try setting.set(try #require(root.node(at: setting.path)), in: &configuration)
      #expect(configuration == defaults)
    }
  }

  @Test(
    "SharedResources must be a list of at most 256 absolute paths without wildcards",
    arguments: [
      TOMLNode.string("/x"), .array([.string("x")]), .array([.string("/x/*.db")]),
      .array([.string("/x?")]), .array([.string("/[x]")]), .array([.integer(1)]),
      .array([.string("/x\u{0}y")]), .array(Array(repeating: .string("/x"), count: 257)),
    ])
  func paths(node: TOMLNode) throws {
    let setting = try #require(SettingDescription.all.first { $0.name == "SharedResources" })
    var configuration = Configuration()
    #expect(throws: SettingRefusal.self) { try setting.set(node, in: &configuration) }
    #expect(configuration == Configuration())
  }

  @Test(
    "The refusal of a path in SharedResources says what is wrong",
    arguments: [
      ("x", "\"x\" is not an absolute path; write "),
      ("/x\u{0}y", "\"/x\\x00y\" contains a NUL; write "),
      ("/x/*.db", "\"/x/*.db\" has wildcards; write "),
      (
        "/" + String(repeating: "x", count: 4095),
        "… has 4096 bytes, and a path has at most 4095; write "
      ),
    ])
  func refusedPath(path: String, message: String) throws {
    let setting = try #require(SettingDescription.all.first { $0.name == "SharedResources" })
    var configuration = Configuration()
    let refusal = #expect(throws: SettingRefusal.self) {
      try setting.set(.array([.string(path)]), in: &configuration)
    }
    #expect(refusal?.message.contains(message) == true)
  }

  @Test(
    "[focus] takes lists of at most 256 names, and adopt also takes \"all\" without brackets",
    arguments: [
      TOMLNode.string("foot"), .array([.string("")]), .array([.string("a\u{7}b")]),
      .array([.integer(1)]), .array(Array(repeating: .string("x"), count: 257)),
      .array([.string(String(repeating: "x", count: 257))]),
    ])
  func programs(node: TOMLNode) throws {
    for setting in SettingDescription.all where setting.section == .focus {
      var configuration = Configuration()
      #expect(throws: SettingRefusal.self) { try setting.set(node, in: &configuration) }
      let isList = setting.name == "adopt"
      let all: TOMLNode = isList ? .array([.string("all")]) : .string("all")
      #expect(throws: SettingRefusal.self) { try setting.set(all, in: &configuration) }
      #expect(configuration == Configuration())
    }
  }

  @Test(
    "[location] takes lists of at most 256 application ids, and allow also takes \"all\"",
    arguments: [
      TOMLNode.string("org.example.navigator"), .array([.string("")]), .array([.string("map")]),
      .array([.integer(1)]), .array([.string("org.example.map"), .string("all")]),
      .array(Array(repeating: .string("org.example.map"), count: 257)), .boolean(true),
    ])
  func applications(node: TOMLNode) throws {
    for name in ["allow", "deny"] {
      let setting = try #require(
        SettingDescription.all.first { $0.section == .location && $0.name == name })
      var configuration = Configuration()
      #expect(throws: SettingRefusal.self) { try setting.set(node, in: &configuration) }
      if name == "deny" {
        #expect(throws: SettingRefusal.self) {
          try setting.set(.string("all"), in: &configuration)
        }
      }
      #expect(configuration == Configuration())
    }
  }

  @Test(
    "The setting gpsd must be an absolute path of at most 107 bytes, or empty",
    arguments: [
      TOMLNode.string("gpsd"), .string("run/gpsd"), .string("/"), .string("/run/g\u{0}psd"),
      .string("/" + String(repeating: "x", count: 107)), .integer(2947), .array([]),
    ])
  func socketPath(node: TOMLNode) throws {
    let setting = try #require(SettingDescription.all.first { $0.name == "gpsd" })
    var configuration = Configuration()
    #expect(throws: SettingRefusal.self) { try setting.set(node, in: &configuration) }
    #expect(configuration == Configuration())
  }

  @Test("[location] sets which applications are allowed and denied, and where gpsd answers")
  func location() throws {
    let map = try #require(ApplicationID("org.example.map"))
    let game = try #require(ApplicationID("org.example.game"))
    let text = """
      [location]
      allow = ["org.example.map"]
      deny = ["org.example.game"]
      gpsd = ""
      """
    let (configuration, problems) = Configuration.parse(Array(text.utf8), file: "f")
    #expect(problems == [])
    #expect(configuration.options.location.allow == .only([map]))
    #expect(configuration.options.location.deny == [game])
    #expect(configuration.options.location.gpsdSocket == "")
    #expect(
      configuration.options.location.rules == LocationRules(allowed: [map], denied: [game]))
    let all = Configuration.parse(Array("location.allow = \"all\"".utf8), file: "f").configuration
    #expect(all.options.location.rules == LocationRules(allowsAll: true))
    #expect(Configuration().options.location.rules == LocationRules())
    #expect(Configuration().options.location.gpsdSocket == "/run/taskschedd/gpsd")
  }

  @Test("A mistake in [location] is reported with its file, line and key")
  func locationMistake() {
    let text = """
      gpsd = "/run/gpsd"
      [location]
      allow = ["org.example.map", "all"]
      deny = ["map"]
      alow = []
      gpsd = "gpsd.socket"
      """
    let (configuration, problems) = Configuration.parse(Array(text.utf8), file: "f")
    #expect(
      problems.map(\.description) == [
        "f:1: gpsd: unknown setting here; move it to [location]",
        "f:3: location.allow: contains \"all\"; write allow = \"all\" without brackets",
        "f:4: location.deny: \"map\" is not the id of an application; write ids of applications, "
          + "such as [\"org.example.navigator\"]",
        "f:5: location.alow: unknown setting; did you mean allow?",
        "f:6: location.gpsd: \"gpsd.socket\" is not an absolute path; write an absolute path, such "
          + "as \"/run/taskschedd/gpsd\", or \"\" for none",
      ])
    #expect(configuration == Configuration())
  }

  @Test("A mistake in [focus] is reported with its file, line and key")
  func focusMistake() {
    let text = "[focus]\nadopt = \"everything\"\nexept = []\n"
    let (_, problems) = Configuration.parse(Array(text.utf8), file: "f")
    #expect(
      problems.map(\.description) == [
        "f:2: focus.adopt: is a string, not an array; write names, such as "
          + "[\"org.gnome.TextEditor\", \"mpv\"], or \"all\"",
        "f:3: focus.exept: unknown setting; did you mean except?",
      ])
  }

  @Test("For each key, a file in /etc has precedence over /usr/share, and a drop-in over both")
  func precedence() {
    let fixture = ConfigurationFixture()
    fixture.write(
      "/usr/share/taskschedd/taskschedd.toml",
      "log-level = \"error\"\n[policy]\nLaunchTime = 1\nTerminateTimeout = 1\nCallbackTimeout = 1")
    fixture.write(
      "/etc/taskschedd/taskschedd.toml", "[policy]\nLaunchTime = 2\nTerminateTimeout = 2")
    fixture.write("/usr/share/taskschedd/taskschedd.toml.d/50.toml", "policy.LaunchTime = 3")
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    #expect(configuration.policy.launchTime == .seconds(3))
    #expect(configuration.policy.terminateTimeout == .seconds(2))
    #expect(configuration.policy.callbackTimeout == .seconds(1))
    #expect(configuration.options.logLevel == .error)
    #expect(
      configuration.sources["policy.TerminateTimeout"]
        == .file(path: fixture.root + "/etc/taskschedd/taskschedd.toml", line: 3))
  }

  @Test(
    """
    The drop-ins of all directories are read in the order of their names; a drop-in in /etc \
    replaces those of the same name
    """)
  func dropIns() {
    let fixture = ConfigurationFixture()
    let (share, etc) = (
      "/usr/share/taskschedd/taskschedd.toml.d", "/etc/taskschedd/taskschedd.toml.d"
    )
    fixture.write(share + "/10-a.toml", "policy.LaunchTime = 1\npolicy.TerminateTimeout = 1")
    fixture.write(etc + "/10-a.toml", "policy.LaunchTime = 2")
    fixture.write(share + "/20-b.toml", "policy.CallbackTimeout = 3")
    fixture.write(etc + "/15-b.toml", "policy.CallbackTimeout = 4")
    fixture.write(share + "/30-masked.toml", "log-level = \"debug\"")
    fixture.link(etc + "/30-masked.toml", to: "/dev/null")
    fixture.write(share + "/40-masked.toml", "log-level = \"debug\"")
    fixture.write(etc + "/40-masked.toml", "")
    fixture.write(etc + "/50-other.toml~", "nonsense")
    fixture.write(etc + "/.60-hidden.toml", "nonsense")
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    #expect(configuration.policy.launchTime == .seconds(2))
    #expect(configuration.policy.terminateTimeout == Policy().terminateTimeout)
    #expect(configuration.policy.callbackTimeout == .seconds(3))
    #expect(configuration.options.logLevel == .info)
  }

  @Test("A user's daemon reads the user's directory last; the system's daemon does not read it")
  func userFolder() {
    let fixture = ConfigurationFixture()
    fixture.write("/etc/taskschedd/taskschedd.toml", "policy.LaunchTime = 1")
    fixture.write("/home/.config/taskschedd/taskschedd.toml", "policy.LaunchTime = 2")
    #expect(Configuration.load(from: fixture.user).configuration.policy.launchTime == .seconds(2))
    #expect(
      Configuration.load(from: fixture.system).configuration.policy.launchTime == .seconds(1))
  }

  @Test("The XDG directories must be absolute; without a home directory, they are not used")
  func xdg() {
    let both = ConfigurationPaths.user(
      uid: 7, environment: ["HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "relative"])
    #expect(
      both.settingDirectories == ["/usr/share/taskschedd", "/etc/taskschedd", "/c/taskschedd"])
    #expect(
      both.manifestDirectories == [
        "/c/taskschedd/applications", "/h/.local/share/taskschedd/applications",
        "/etc/taskschedd/applications", "/usr/share/taskschedd/applications",
      ])
    #expect(both.trustedOwners == [0, 7])
    let none = ConfigurationPaths.user(uid: 7, environment: [:])
    #expect(none.settingDirectories == ["/usr/share/taskschedd", "/etc/taskschedd"])
  }

  @Test("The file that --config names, and its drop-ins, are read instead of all other files")
  func explicit() {
    let fixture = ConfigurationFixture()
    fixture.write("/etc/taskschedd/taskschedd.toml", "log-level = \"debug\"")
    fixture.write("/my.toml", "policy.LaunchTime = 1\npolicy.CallbackTimeout = 1")
    fixture.write("/my.toml.d/1.toml", "policy.LaunchTime = 2")
    var paths = fixture.system
    paths.explicitFile = fixture.root + "/my.toml"
    let (configuration, problems) = Configuration.load(from: paths)
    #expect(problems == [])
    #expect(configuration.options.logLevel == .info)
    #expect(configuration.policy.launchTime == .seconds(2))
    #expect(configuration.policy.callbackTimeout == .seconds(1))
  }
}

extension [String: TOMLNode] {
  fileprivate func node(at path: [TOMLPathComponent]) -> TOMLNode? {
    var node = TOMLNode.table(self)
    for component in path {
      guard case .table(let members) = node, case .key(let name) = component,
        let member = members[name]
      else { return nil }
      node = member
    }
    return node
  }
}
