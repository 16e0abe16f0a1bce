import Glibc
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("The remote command, with a daemon that the test simulates")
struct RemoteTests {
  private typealias Control = ControlInterface

  /// Runs the command with a daemon that accepts its call. Returns the input of the call and the
  /// outcome.
  private func outcome(
    _ arguments: [String]
  ) throws -> (input: Control.RemoteControl.Input, output: String, code: Int32?) {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["remote"] + arguments, socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.RemoteControl.self)
    try connection.reply(Control.RemoteControl.Output(application: "org.example.player"))
    let outcome = try taskctl.outcome()
    #expect(outcome.errors == "")
    return (input, outcome.output, outcome.code)
  }

  @Test("Each command is sent, and the application that received it is printed")
  func commands() throws {
    let names = ["play", "pause", "play-pause", "next", "previous", "stop"]
    let commands: [Control.RemoteCommand] = [.play, .pause, .playPause, .next, .previous, .stop]
    for (name, command) in zip(names, commands) {
      let outcome = try outcome([name])
      #expect(outcome.input == .init(command: command))
      #expect(outcome.output == "sent \(name) to org.example.player\n")
      #expect(outcome.code == 0)
    }
    #expect(names + ["seek"] == RemoteCommand.names)
  }

  @Test(
    "The seek command takes a number of seconds, negative to move backwards",
    arguments: [
      (["10"], 10), (["-10"], -10), (["-0.5", "--json"], -0.5), (["--", "-10"], -10),
      (["--owner", "0", "-1e3"], -1000),
    ] as [([String], Double)])
  func seek(_ arguments: [String], _ seconds: Double) throws {
    let outcome = try outcome(["seek"] + arguments)
    #expect(outcome.input.command == .seek)
    #expect(outcome.input.seconds == seconds)
    #expect(outcome.code == 0)
  }

  @Test("With --json the reply of the daemon is printed, and --owner names another user")
  func options() throws {
    let outcome = try outcome(["play", "--owner", "0", "--json"])
    #expect(outcome.input == .init(command: .play, owner: 0))
    #expect(outcome.output == "{\"application\":\"org.example.player\"}\n")
  }

  @Test("The error that no application has played names the user and what to do")
  func nothingPlayed() throws {
    let cases: [([String], String)] = [
      ([], UserName.of(Int(geteuid()))), (["--owner", "4242"], "4242"),
    ]
    for (options, user) in cases {
      let daemon = try FakeDaemon()
      let taskctl = try TaskctlProcess(["remote", "next"] + options, socket: daemon.socket)
      let (connection, _) = try daemon.accept(Control.RemoteControl.self)
      try connection.fail(Control.Failure.nothingPlayed)
      let outcome = try taskctl.outcome()
      #expect(outcome.code == 1)
      #expect(
        outcome.errors == "taskctl: NothingPlayed: no running application of the user '\(user)' "
          + "that receives media commands has played audio; play something in one, or name "
          + "another user with --owner\n")
    }
  }

  @Test(
    "A command line with a mistake is refused before the daemon is called",
    arguments: [
      (["rewind"], "it is not a command; use one of play, pause, play-pause"),
      (["play-paus"], "did you mean 'play-pause'?"),
      (["seek"], "'seek' needs a number of seconds"),
      (["play", "10"], "'play' takes no number of seconds; only 'seek' does"),
      (["seek", "1e10"], "is 10000000000.0; it must be from -1000000000 to 1000000000"),
      (["seek", "-1e10"], "is -10000000000.0; it must be from -1000000000 to 1000000000"),
      (["seek", "nan"], "is nan; it must be from -1000000000 to 1000000000"),
      (["seek", "soon"], "soon"), ([], "command"),
    ] as [([String], String)])
  func mistakes(_ arguments: [String], _ expected: String) throws {
    let outcome = try TaskctlProcess(["remote"] + arguments, socket: "/nowhere").outcome()
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
  }

  @Test("Negative numbers move behind the terminator only in commands that take numbers")
  func terminator() {
    let unchanged: [[String]] = [
      ["remote", "seek", "10"], ["remote", "seek", "--", "-10"], ["remote", "play", "--json"],
      ["list", "-10"], ["run", "--", "remote", "-10"], [],
    ]
    for arguments in unchanged { #expect(NegativeNumbers.terminated(arguments) == arguments) }
    #expect(
      NegativeNumbers.terminated(["remote", "seek", "-10", "--json"])
        == ["remote", "seek", "--json", "--", "-10"])
    #expect(
      NegativeNumbers.terminated(["--socket", "-5", "remote", "seek", "-10"])
        == ["--socket", "-5", "remote", "seek", "--", "-10"])
  }

  @Test("Negative coordinates move behind the terminator in order, and values of options do not")
  func coordinates() {
    let post = "post-location"
    let cases: [([String], [String])] = [
      ([post, "-33.8", "151.2"], [post, "--", "-33.8", "151.2"]),
      ([post, "33.8", "-151.2", "--json"], [post, "33.8", "--json", "--", "-151.2"]),
      ([post, "-33.8", "-51.2"], [post, "--", "-33.8", "-51.2"]),
      (
        [post, "--altitude", "-12", "-33.8", "--course", "90", "151.2"],
        [post, "--altitude", "-12", "--course", "90", "--", "-33.8", "151.2"]
      ),
      (["--user", post, "-1", "1"], ["--user", post, "--", "-1", "1"]),
      ([post, "--altitude", "-12", "33.8", "151.2"], [post, "--altitude", "-12", "33.8", "151.2"]),
      ([post, "--", "-33.8", "151.2"], [post, "--", "-33.8", "151.2"]),
      (["list", post, "-1"], ["list", post, "-1"]),
    ]
    for (arguments, expected) in cases {
      #expect(NegativeNumbers.terminated(arguments) == expected)
    }
  }
}
