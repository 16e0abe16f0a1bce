import ArgumentParser
import TaskSchedulerWire

/// `taskctl location`.
struct LocationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "location",
    abstract: "Show which applications use the location, and allow or deny it.",
    discussion: """
      You see the applications that run as your user, and decide for them. An operator sees all \
      applications, and decides for all.

      Examples:
        taskctl location
        taskctl location allow org.example.maps
        taskctl location regions org.example.places
      """,
    subcommands: [Show.self, Regions.self, Allow.self, Deny.self, Reset.self, Forget.self],
    defaultSubcommand: Show.self)

  /// `taskctl location show`.
  struct Show: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the sources, the location, and the applications that use it.",
      discussion: """
        Shows the sources of locations, and why a source is not available. Shows the accuracy that \
        applications need now, and the newest location. SERVICES are the services that an \
        application uses: updates with the accuracy that it wants, significant changes, and \
        regions. LAST USED is when the daemon last told the application anything about the \
        location. With --json: the reply of GetLocation.

        Example: taskctl location --owner ada
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var userOption: UserOption

    func run() throws {
      let output = try LocationCommand.output(options, owner: userOption.owner?.uid)
      try Output.write(
        options.json ? JSONOutput.line(output) : LocationText.text(output, .forStandardOutput()))
    }
  }

  /// `taskctl location regions [APP]`.
  struct Regions: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the regions that applications monitor.",
      discussion: """
        DISTANCE is the distance between the newest location and the center of the region. MACHINE \
        says whether the machine is inside, as far as the daemon knows. With --json: \
        {"regions": […]}; each element has the application and its owner.

        Example: taskctl location regions org.example.places
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var userOption: UserOption

    @Argument(
      help: ArgumentHelp("List only regions of this application.", valueName: "app"),
      completion: ApplicationCompletion.kind)
    var application: String?

    func run() throws {
      let owner = userOption.owner?.uid
      let output = try LocationCommand.output(options, owner: owner)
      let uses = output.uses.filter { $0.application == application ?? $0.application }
      if let application, uses.isEmpty {
        // The daemon refuses this call if it does not know the id, so that a mistyped id is an
        // error.
        _ = try options.connect().call(
          ControlInterface.GetApplication.self, .init(application: application, owner: owner),
          timeout: answerTimeout)
      }
      try Output.write(
        options.json
          ? JSONOutput.line(Self.document(uses))
          : LocationText.regions(uses, of: application, .forStandardOutput()))
    }

    /// The JSON form.
    private static func document(_ uses: [ControlInterface.LocationUse]) -> JSONValue {
      let regions = uses.flatMap { use in
        use.regions.map { region -> JSONValue in
          [
            "application": JSONValue(use.application), "owner": JSONValue(use.owner),
            "region": JSONValue(region.region), "inside": JSONOutput.optional(region.inside),
            "distance": JSONOutput.optional(region.distance),
          ]
        }
      }
      return ["regions": .array(regions)]
    }
  }

  /// `taskctl location allow APP`.
  struct Allow: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Allow an application to learn the location.",
      discussion: """
        The command decides in place of the user, even if the user has denied the location.

        Example: taskctl location allow org.example.maps
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var target: ApplicationArgument

    func run() throws { try LocationCommand.decide(.authorized, target, options) }
  }

  /// `taskctl location deny APP`.
  struct Deny: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Deny an application the location.",
      discussion: """
        The command decides in place of the user, even if the user has allowed the location. The \
        application keeps its regions, but the daemon tells it nothing about the location any more.

        Example: taskctl location deny org.example.maps
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var target: ApplicationArgument

    func run() throws { try LocationCommand.decide(.denied, target, options) }
  }

  /// `taskctl location reset APP`.
  struct Reset: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Withdraw the decision about an application; the daemon then asks the user again.",
      discussion: """
        If the application uses a location service, the daemon asks the user at once. Otherwise it \
        asks when the application starts one.

        Example: taskctl location reset org.example.maps
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var target: ApplicationArgument

    func run() throws { try LocationCommand.decide(.notDetermined, target, options) }
  }

  /// `taskctl location forget APP`.
  struct Forget: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Forget the regions and significant changes of an application, and the decision "
        + "about it.",
      discussion: """
        Use this for an application that is no longer installed. An application that still uses \
        the location must start its regions and its significant changes again.

        Example: taskctl location forget org.example.places
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var target: ApplicationArgument

    func run() throws {
      let output = try options.connect().call(
        ControlInterface.ForgetLocation.self,
        .init(application: target.application, owner: target.owner), timeout: answerTimeout)
      if options.json { try Output.write(JSONOutput.line(output)) }
    }
  }

  private static func output(
    _ options: ConnectionOptions, owner: Int?
  ) throws -> ControlInterface.GetLocation.Output {
    try options.connect().call(
      ControlInterface.GetLocation.self, .init(owner: owner), timeout: answerTimeout)
  }

  private static func decide(
    _ authorization: ControlInterface.LocationAuthorization, _ target: ApplicationArgument,
    _ options: ConnectionOptions
  ) throws {
    let connection = try options.connect()
    let output = try connection.call(
      ControlInterface.SetLocationAuthorization.self,
      .init(
        application: target.application, owner: target.owner, authorization: authorization),
      timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
    let location = try connection.call(
      ControlInterface.GetLocation.self, .init(owner: target.owner), timeout: answerTimeout)
    // If the command names no owner, `uses` may contain applications of several users. taskctl then
    // prints no warning, because the warning could be about another application than the caller's.
    let uses = location.uses.filter { $0.application == target.application }
    if let use = uses.first, uses.count == 1, use.authorization != authorization {
      let reason =
        use.denial == .manifest
        ? "its manifest does not name a location service; see 'location' in taskschedd.manifest(5)"
        : "the settings of the daemon override the decision; see [location] in taskschedd.toml(5)"
      Output.complain(
        "taskctl: warning: the decision is stored, but '\(PrintableText.of(use.application))' is "
          + "\(use.authorization.words): \(reason)")
    }
  }
}

/// The user whose applications a command is about.
struct UserOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Show only the applications of this user, by name or uid.", valueName: "user"),
    completion: OwnerCompletion.kind, transform: Owner.init(parsing:))
  var owner: Owner?
}
