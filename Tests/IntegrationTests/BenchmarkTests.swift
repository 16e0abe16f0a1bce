import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("The benchmarks find the programs that they measure")
struct BenchmarkTests {
  /// Makes the files of bench-memory's small virtual machine, but no disk image and no initramfs.
  /// Prints whether the copy of the daemon is executable, and which of the directories for mounts
  /// are not empty.
  private static let program = """
    import os, sys
    sys.path.insert(0, sys.argv[1])
    import small_machine
    class Files(small_machine.SmallMachine):
        def __init__(self, directory): self.directory, self.megabytes = directory, 1
        def make_disk(self, root): pass
        def make_start(self, script): pass
    machine = Files(sys.argv[2])
    machine.make([sys.argv[3]], sys.argv[4], {})
    root = machine.path("root")
    print(os.access(root + "/bench/" + os.path.basename(sys.argv[3]), os.X_OK))
    print([name for name in ("proc", "sys", "dev", "run") if os.listdir(f"{root}/{name}")])
    """

  @Test("The small machine of bench-memory contains the daemon even if the clone is below /tmp")
  func cloneBelowTmp() throws {
    let clone = TemporaryDirectory()
    #expect(clone.path.hasPrefix("/tmp/"))
    clone.write("daemon", "#!/bin/sh\n")
    chmod(clone.file("daemon"), 0o755)
    clone.write("script.py", "")
    let machine = TemporaryDirectory()
    let python = try TestProcess(
      "/usr/bin/python3",
      [
        "python3", "-B", "-c", Self.program, "\(Programs.root)/Benchmarks", machine.path,
        clone.file("daemon"), clone.file("script.py"),
      ])
    #expect(try python.remainingText() == "True\n[]\n")
    #expect(try python.waitForExit() == .exited(code: 0))
  }

  @Test(
      """
      All release builds of the Makefile have the same flags, so that no build compiles everything \
      again
      """)
  func sameFlags() throws {
    let lines = try Programs.text(of: "Makefile").split(separator: "\n")
      .filter { !$0.drop { $0 == "\t" }.hasPrefix("#") }
    // Omits the build of an earlier commit, because the Makefile makes that build in a separate
    // directory.
    let builds = lines.filter {
      $0.contains("-c release") && !$0.contains("--show-bin-path")
        && !$0.contains("--package-path $(PREVIOUS)")
    }
    let flags = "--static-swift-stdlib $(SMALL) $(UNCHECKED)"
    #expect(builds == ["RELEASE := $(BUILD) -c release \(flags)"])
    // A package plugin builds with different flags, and therefore needs a separate build directory.
    #expect(lines.allSatisfy { !$0.contains("$(SWIFT) package") || $0.contains("--scratch-path") })
  }
}
