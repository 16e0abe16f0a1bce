import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  @Suite("The installed files")
  struct Installation {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    @Test("Installation creates the operators' group, and directories that only root writes")
    func users() throws {
      #expect(try machine.must("getent", "group", "taskschedd").text.hasPrefix("taskschedd:"))
      for folder in ["/run/taskschedd", "/etc/taskschedd", "/etc/taskschedd/applications"] {
        #expect(try machine.must("stat", "-c", "%a %U", folder).text == "755 root\n")
      }
    }

    @Test("systemd-analyze verify accepts the units")
    func verify() throws {
      for unit in [
        "taskschedd.service", "taskschedd.socket", "taskschedd-network.socket",
        "taskschedd-gpsd.socket", "taskschedd-gpsd.service", "taskschedd-release.service",
      ] {
        let system = try machine.must("systemd-analyze", "verify", "/lib/systemd/system/\(unit)")
        #expect(system.text.isEmpty)
      }
      let user = InstalledMachine.tester
      try machine.must("systemctl", "start", "user@\(user).service")
      for unit in [
        "taskschedd.service", "taskschedd.socket", "taskschedd-release.service",
        "taskschedd-session.service", "taskschedd-session-restart.service",
      ] {
        let users = try machine.must(
          "systemd-analyze", "--user", "verify", "/usr/lib/systemd/user/\(unit)", as: user)
        // The test ignores problems of other packages' units.
        #expect(users.lines.filter { $0.contains("taskschedd") } == [])
      }
      try machine.must("systemctl", "stop", "user@\(user).service")
    }

    @Test("systemd-analyze rates the exposure of the system's daemon at most 1.8")
    func exposure() throws {
      let text = try machine.must(
        "systemd-analyze", "security", "--offline=true", "--no-pager",
        "/lib/systemd/system/taskschedd.service"
      ).lines.last ?? ""
      print(text)
      let words = text.split(separator: " ")
      let figure = words.firstIndex { $0.hasPrefix("taskschedd.service") }.map { words[$0 + 1] }
      #expect(try #require(figure.flatMap { Double($0) }) <= 1.8)
    }

    @Test("The installed interfaces are those that the daemon serves")
    func interfaces() throws {
      for name in ["Application", "Control", "Session"] {
        let file = "/usr/share/taskschedd/interfaces/org.taskschedd.\(name).varlink"
        let text = try machine.must("cat", file).text
        #expect(text.contains("interface org.taskschedd.\(name)\n"))
      }
    }

    @Test("The shell completes the commands of the programs")
    func completions() throws {
      let offered = try machine.must(
        "bash", "-c",
        """
        . /usr/share/bash-completion/completions/taskctl
        COMP_WORDS=(taskctl for) COMP_CWORD=1 COMP_LINE="taskctl for" COMP_POINT=11
        $(complete -p taskctl | sed 's/.*-F \\([^ ]*\\).*/\\1/') taskctl for taskctl
        echo "${COMPREPLY[@]}"
        """)
      #expect(offered.text.contains("foreground"))
      for (program, word) in [
        ("taskctl", "foreground"), ("taskschedd", "manifests"), ("taskschedd-session", "socket"),
      ] {
        for path in [
          "bash-completion/completions/\(program)", "zsh/vendor-completions/_\(program)",
          "fish/vendor_completions.d/\(program).fish",
        ] {
          try machine.must("grep", "-q", word, "/usr/share/\(path)")
        }
      }
    }

    @Test("The manual pages of the programs, files and interfaces are installed")
    func manuals() throws {
      for page in [
        "man1/taskctl.1", "man1/taskctl-run.1", "man5/taskschedd.toml.5",
        "man5/taskschedd.manifest.5", "man5/org.taskschedd.Control.5",
        "man5/org.taskschedd.Session.5", "man8/taskschedd.8", "man8/taskschedd-session.8",
      ] {
        try machine.must("test", "-s", "/usr/share/man/\(page)")
      }
    }

    @Test("The programs need no full Foundation, and a program over its maximum size is refused")
    func programs() throws {
      // Debug builds are larger than the installed programs.
      let built = try check(
        InstalledMachine.built, "taskschedd=200", "taskschedd-session=200", "taskctl=200")
      #expect(built.text == "")
      #expect(built.end == .exited(code: 0))
      let large = try check(InstalledMachine.built, "taskctl=1")
      #expect(large.text.hasSuffix("bytes without symbols; the limit is 1 MB\n"))
      #expect(large.end == .exited(code: 1))
      let folder = TemporaryDirectory()
      let maker = try TestProcess.shell(
        "echo 's10FoundationX = 1' | as -o '\(folder.file("taskctl"))'")
      #expect(try maker.waitForExit() == .exited(code: 0))
      let foundation = try check(folder.path, "taskctl=1")
      #expect(foundation.text.contains("contains the full Foundation"))
      #expect(foundation.end == .exited(code: 1))
    }

    private func check(
      _ directory: String, _ limits: String...
    ) throws -> (text: String, end: ProcessExit?) {
      let script = InstalledMachine.repository + "/scripts/check-programs"
      let process = try TestProcess(
        "/bin/sh", ["sh", "-c", "exec \"$0\" \"$@\" 2>&1", script, directory] + limits)
      var text = ""
      while let line = try process.readLine() { text += line + "\n" }
      return (text, try process.waitForExit())
    }

    @Test("make uninstall removes all files except the administrator's")
    func uninstall() throws {
      let tree = TemporaryDirectory()
      _ = try InstalledMachine.make("install", destination: tree.path)
      tree.write("etc/taskschedd/taskschedd.toml", "log-level = \"debug\"\n")
      _ = try InstalledMachine.make("uninstall", destination: tree.path)
      let find = try TestProcess("/usr/bin/find", ["find", tree.path, "-type", "f"])
      #expect(try find.readLine() == tree.file("etc/taskschedd/taskschedd.toml"))
      #expect(try find.readLine() == nil)
    }
  }
}
