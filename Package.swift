// swift-tools-version: 6.2
import PackageDescription

/// Settings of every target of this package.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let isFuzzing = Context.environment["FUZZ"] != nil
/// Settings of targets with much computation. Debug builds optimize these targets, for the tests
/// and the simulation, but keep their assertions. SwiftPM refuses these settings for targets of a
/// library product. The fuzzer's build chooses the optimization itself.
let strictQuick: [SwiftSetting] =
  isFuzzing
  ? strict
  : strict + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]
/// Settings of targets that take part in each call. `make release` compiles the other targets for
/// size, with -Osize on the command line. The -O of these settings overrides -Osize, because the
/// compiler driver passes flags for the frontend last.
let strictHot: [SwiftSetting] =
  strictQuick + [.unsafeFlags(["-Xfrontend", "-O"], .when(configuration: .release))]
let strictC: [CSetting] = [
  .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
]

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let serviceLifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
  name: "taskschedd",
  products: [
    .library(name: "TaskSchedulerClient", targets: ["TaskSchedulerClient"]),
    .library(
      name: "TaskSchedulerServiceLifecycle", targets: ["TaskSchedulerServiceLifecycle"]),
    .executable(name: "taskschedd", targets: ["taskschedd"]),
    .executable(name: "taskschedd-session", targets: ["taskschedd-session"]),
    .executable(name: "taskctl", targets: ["taskctl"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    // For `make documentation` only.
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", exact: "1.5.0"),
  ],
  targets: [
    // The targets in the order of ARCHITECTURE.md. Each target imports only targets above it.
    .target(
      name: "TaskSchedulerCore", dependencies: [deque, heap], swiftSettings: strictHot),
    .target(
      name: "TaskSchedulerWire",
      resources: [
        .embedInCode("Interfaces/org.taskschedd.Application.varlink"),
        .embedInCode("Interfaces/org.taskschedd.Control.varlink"),
        .embedInCode("Interfaces/org.taskschedd.Session.varlink"),
        .embedInCode("Interfaces/org.varlink.service.varlink"),
      ],
      swiftSettings: strict),
    .target(
      name: "TaskSchedulerEventLog", dependencies: ["TaskSchedulerCore"],
      swiftSettings: strictHot),
    .target(
      name: "TaskSchedulerSimulation",
      dependencies: ["TaskSchedulerCore", "TaskSchedulerEventLog", heap],
      swiftSettings: strictQuick),
    .target(name: "CSystemd", cSettings: strictC, linkerSettings: [.linkedLibrary("systemd")]),
    .target(name: "CLinux", cSettings: strictC),
    .target(name: "CSQLite", cSettings: strictC, linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(
      name: "CXCB", cSettings: strictC,
      linkerSettings: [.linkedLibrary("xcb"), .linkedLibrary("xcb-res")]),
    .target(
      name: "CPulse", cSettings: strictC,
      linkerSettings: [.linkedLibrary("pulse"), .linkedLibrary("systemd")]),
    .target(name: "LinuxSystem", dependencies: ["CLinux"], swiftSettings: strict),
    .target(
      name: "EventLoop", dependencies: ["CSystemd", "LinuxSystem"], swiftSettings: strictHot),
    .target(
      name: "TaskSchedulerClient", dependencies: ["TaskSchedulerWire", "LinuxSystem"],
      swiftSettings: strict),
    .target(
      name: "TaskSchedulerServiceLifecycle",
      dependencies: ["TaskSchedulerClient", serviceLifecycle], swiftSettings: strict),
    .target(
      name: "TaskSchedulerDaemon",
      dependencies: [
        "TaskSchedulerCore", "TaskSchedulerWire", "TaskSchedulerEventLog", "CSystemd",
        "CSQLite", "LinuxSystem", "EventLoop", "TOMLKit", deque,
      ],
      swiftSettings: strictHot),
    .target(
      name: "TaskSchedulerSession",
      dependencies: ["TaskSchedulerWire", "CPulse", "CXCB", "LinuxSystem", "EventLoop"],
      swiftSettings: strict),
    .executableTarget(
      name: "taskschedd", dependencies: ["TaskSchedulerDaemon", argumentParser],
      swiftSettings: strict),
    .executableTarget(
      name: "taskschedd-session",
      dependencies: [
        "TaskSchedulerSession", "TaskSchedulerWire", "LinuxSystem", "EventLoop", argumentParser,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "taskctl",
      dependencies: [
        "TaskSchedulerClient", "TaskSchedulerCore", "TaskSchedulerEventLog",
        "TaskSchedulerSimulation", "TaskSchedulerWire", "LinuxSystem", argumentParser,
      ],
      swiftSettings: strict),

    // Writes the Swift types of the interfaces: `make interfaces`.
    .executableTarget(
      name: "generate-interfaces", dependencies: ["TaskSchedulerWire"], swiftSettings: strict),

    .executableTarget(
      name: "uploader-example", dependencies: ["TaskSchedulerClient"], path: "Examples/uploader",
      swiftSettings: strict),

    .executableTarget(
      name: "voip-example", dependencies: ["TaskSchedulerClient"], path: "Examples/voip",
      swiftSettings: strict),

    .executableTarget(
      name: "player-example", dependencies: ["TaskSchedulerClient"], path: "Examples/player",
      swiftSettings: strict),

    .executableTarget(
      name: "navigator-example", dependencies: ["TaskSchedulerClient"],
      path: "Examples/navigator", swiftSettings: strict),

    .executableTarget(
      name: "places-example", dependencies: ["TaskSchedulerClient"], path: "Examples/places",
      swiftSettings: strict),

    .executableTarget(
      name: "outbox-example",
      dependencies: [
        "TaskSchedulerClient", "TaskSchedulerServiceLifecycle", serviceLifecycle,
        logging,
      ],
      path: "Examples/outbox", swiftSettings: strict),

    // The function of each fuzz target. The tests call these functions with each input of the
    // corpus.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "TaskSchedulerCore", "TaskSchedulerWire", "TaskSchedulerEventLog",
        "TaskSchedulerSimulation", "TaskSchedulerDaemon", "TaskSchedulerSession", "LinuxSystem",
      ],
      path: "Fuzz/Sources/FuzzTargets", swiftSettings: strict),

    // The chaos campaign. The program boots a machine, and is also each client in the machine.
    .executableTarget(
      name: "chaos",
      dependencies: [
        "TaskSchedulerClient", "TaskSchedulerWire", "LinuxSystem", "TestSupport", argumentParser,
      ],
      path: "Chaos", exclude: ["README.md"], swiftSettings: strict),

    // Links libsystemd to a simulated clock, for the benchmark of wake-ups only.
    .target(name: "CVirtualTime", path: "Benchmarks/virtual-time", cSettings: strictC),
    .executableTarget(
      name: "wakeups",
      dependencies: [
        "TaskSchedulerCore", "CSystemd", "CVirtualTime", heap, argumentParser,
      ],
      path: "Benchmarks/wakeups", exclude: ["wakeups.svg"], swiftSettings: strict),
    .executableTarget(
      name: "location-week", dependencies: ["TaskSchedulerCore", argumentParser],
      path: "Benchmarks/location", swiftSettings: strict),

    .target(
      name: "TestSupport", dependencies: ["LinuxSystem"], path: "Tests/Support/TestSupport",
      swiftSettings: strict),
    .executableTarget(
      name: "CertificationServer", dependencies: ["TaskSchedulerWire"],
      path: "Tests/Support/CertificationServer", swiftSettings: strict),
    .testTarget(
      name: "TaskSchedulerCoreTests", dependencies: ["TaskSchedulerCore"], swiftSettings: strict),
    .testTarget(
      name: "TaskSchedulerEventLogTests",
      dependencies: ["TaskSchedulerEventLog", "TaskSchedulerCore"], swiftSettings: strict),
    .testTarget(
      name: "TaskSchedulerSimulationTests",
      dependencies: ["TaskSchedulerSimulation", "TaskSchedulerCore"], swiftSettings: strict),
    .testTarget(name: "TidyTests", swiftSettings: strict),
    .testTarget(
      name: "FuzzTests", dependencies: ["FuzzTargets"], swiftSettings: strict),
    .testTarget(
      name: "TaskSchedulerWireTests",
      dependencies: [
        "TaskSchedulerWire", "LinuxSystem", "TestSupport", "CertificationServer",
        "generate-interfaces",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LinuxSystemTests", dependencies: ["LinuxSystem", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "TaskSchedulerClientTests",
      dependencies: [
        "TaskSchedulerClient", "TaskSchedulerServiceLifecycle", "TaskSchedulerWire", "LinuxSystem",
        "TestSupport", serviceLifecycle, logging,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TaskctlTests",
      dependencies: [
        "taskctl", "TaskSchedulerClient", "TaskSchedulerCore", "TaskSchedulerEventLog",
        "TaskSchedulerSimulation", "TaskSchedulerWire", "LinuxSystem", "TestSupport",
        argumentParser,
      ],
      exclude: ["Timelines"], swiftSettings: strict),
    .testTarget(
      name: "TaskSchedulerDaemonTests",
      dependencies: [
        "TaskSchedulerDaemon", "TaskSchedulerCore", "TaskSchedulerWire", "LinuxSystem", "EventLoop",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TaskSchedulerSessionTests",
      dependencies: [
        "TaskSchedulerSession", "TaskSchedulerWire", "CXCB", "LinuxSystem", "EventLoop",
        "TestSupport",
      ],
      exclude: ["Recorded"], swiftSettings: strict),
    .testTarget(
      name: "SystemdTests",
      dependencies: [
        "taskschedd", "taskschedd-session", "taskctl", "chaos", "TaskSchedulerDaemon",
        "TaskSchedulerCore", "LinuxSystem", "TestSupport",
      ],
      exclude: ["Resources"], swiftSettings: strict),
    // Runs the built programs from the directory of its own executable.
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "taskschedd", "taskschedd-session", "taskctl", "uploader-example", "voip-example",
        "player-example", "navigator-example", "places-example", "outbox-example",
        "TaskSchedulerClient",
        "TaskSchedulerCore",
        "TaskSchedulerEventLog", "TaskSchedulerSimulation", "TaskSchedulerWire", "LinuxSystem",
        "TestSupport",
      ],
      exclude: ["Resources"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// libFuzzer provides the main function, so that this target links in `make fuzz` only.
if isFuzzing {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzTargets"], path: "Fuzz/Sources/fuzz",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}

// `make tsan` builds only the client, its tests, and a program with a race that the sanitizer must
// report.
if Context.environment["TSAN"] != nil {
  let watched: Set<String> = [
    "CLinux", "LinuxSystem", "TaskSchedulerWire", "TaskSchedulerClient",
    "TaskSchedulerServiceLifecycle", "TestSupport", "TaskSchedulerClientTests",
  ]
  package.targets.removeAll { !watched.contains($0.name) }
  package.products = []
  package.targets.append(
    .executableTarget(
      name: "race-canary", dependencies: ["TaskSchedulerClient"],
      path: "Tests/Support/RaceCanary", swiftSettings: strict))
}
