import TaskSchedulerWire
import Testing

@testable import taskctl

@Suite("The output of the commands memory and warn-memory")
struct MemoryRenderingTests {
  private func use(
    _ id: String, _ state: ControlInterface.State, dirty: Int, position: Int?,
    estimate: Bool = false
  ) -> ControlInterface.MemoryUse {
    .init(
      application: id, owner: 1000, state: state, dirty: dirty << 20, total: 300 << 20,
      estimate: estimate, position: position)
  }

  private var memory: ControlInterface.GetMemory.Output {
    .init(
      phase: .warned, pressedAtUSec: nil, heard: ["machine", "slice"], available: 80 << 20,
      total: 1000 << 20, floorPercent: 10,
      applications: [
        use("org.example.maps", .suspended, dirty: 200, position: 1),
        use("org.example.mail", .suspended, dirty: 20, position: 2, estimate: true),
        use("org.example.news", .suspended, dirty: 20, position: 3),
        use("org.example.sync", .background, dirty: 250, position: 4),
        use("org.example.game", .active, dirty: 280, position: nil),
      ])
  }

  @Test("The memory command shows the machine's memory and why each application has its position")
  func table() {
    #expect(
      MemoryText.text(memory, context) == """
        Memory:    80.0 MiB of 1000 MiB available (8%); below 10%, the daemon may \
        terminate applications
        Pressure:  the daemon has warned applications; no pressure so far; monitored: \
        machine, slice

        NEXT  APPLICATION       STATE           DIRTY    TOTAL  WHY
           1  org.example.maps  suspended     200 MiB  300 MiB  suspended, the most dirty memory
           2  org.example.mail  suspended   ~20.0 MiB  300 MiB  less dirty memory
           3  org.example.news  suspended    20.0 MiB  300 MiB  as much dirty \
        memory, but active more recently
           4  org.example.sync  background    250 MiB  300 MiB  in the background: \
        after all suspended applications
           -  org.example.game  active        280 MiB  300 MiB  in the foreground: never

        """)
  }

  @Test("The memory command says that pressure is not monitored and that nothing is running")
  func empty() {
    let text = MemoryText.text(
      .init(phase: .calm, heard: [], available: 0, total: 0, floorPercent: 0, applications: []),
      context)
    #expect(text.contains("none; no pressure so far; not monitored"))
    #expect(!text.contains("APPLICATION"))
  }

  @Test("A dry run lists the applications to terminate in order, with the memory that each frees")
  func round() {
    let uses = memory.applications.filter { $0.position != nil }
    #expect(
      MemoryText.round(uses, context) == """
        1. org.example.maps (suspended): terminated without notice; frees 200 MiB
        2. org.example.mail (suspended): terminated without notice; frees about 20.0 MiB
        3. org.example.news (suspended): terminated without notice; frees 20.0 MiB
        4. org.example.sync (background): terminated with willTerminate; frees 250 MiB

        """)
    #expect(MemoryText.round([], context).hasPrefix("The daemon would terminate no application"))
  }

  @Test(
    "A number of bytes is shown with at least two digits",
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (3 << 19, "1.5 MiB"),
      (102_400, "100 KiB"), (UInt64.max, "16.0 EiB"),
    ] as [(UInt64, String)])
  func bytes(_ count: UInt64, _ text: String) {
    #expect(ByteText.of(count) == text)
  }
}
