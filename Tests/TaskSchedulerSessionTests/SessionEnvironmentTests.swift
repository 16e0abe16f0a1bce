import Testing

@testable import TaskSchedulerSession

@Suite("§20: The place where a session's compositor listens")
struct SessionEnvironmentTests {
  private func environment(_ variables: [String: String]) -> SessionEnvironment {
    SessionEnvironment(uid: 1000) { variables[$0] }
  }

  private let sockets = [
    "bus", "sway-ipc.1000.42.sock", "sway-ipc.1000.77.sock", "sway-ipc.1001.5.sock", "wayland-1",
  ]

  @Test("sway's sockets in the runtime directory are tried after that of SWAYSOCK")
  func sway() {
    let wayland = environment([
      "XDG_RUNTIME_DIR": "/run/user/1000", "WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":0",
      "SWAYSOCK": "/run/user/1000/sway-ipc.1000.77.sock",
    ])
    let expected: [SessionEnvironment.Candidate] = [
      .sway(path: "/run/user/1000/sway-ipc.1000.77.sock"),
      .sway(path: "/run/user/1000/sway-ipc.1000.42.sock"),
    ]
    #expect(wayland.candidates(runtimeNames: sockets, xNames: ["X0"]) == expected)
    #expect(wayland.isSwaySocket("sway-ipc.1000.99.sock"))
    #expect(!wayland.isSwaySocket("sway-ipc.10000.99.sock"))
    #expect(!wayland.isXSocket("X0"))
  }

  @Test("The address of the bus is that of the environment, or else that of the user manager's bus")
  func bus() {
    #expect(environment(["XDG_RUNTIME_DIR": "/r"]).busAddress == "unix:path=/r/bus")
    let named = environment(["XDG_RUNTIME_DIR": "/r", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/b"])
    #expect(named.busAddress == "unix:path=/b")
    #expect(environment([:]).busAddress == nil)
  }

  @Test("Without WAYLAND_DISPLAY and DISPLAY, the monitor looks for sway only")
  func nothing() {
    let bare = environment(["XDG_RUNTIME_DIR": "/r", "DISPLAY": "", "SWAYSOCK": ""])
    #expect(bare.candidates(runtimeNames: sockets, xNames: ["X0"]).count == 2)
    #expect(environment([:]).candidates(runtimeNames: [], xNames: ["X0"]) == [])
  }

  @Test("In an X11 session, a sway in one of its windows is not the session's compositor")
  func nested() {
    let x = environment(["XDG_RUNTIME_DIR": "/r", "DISPLAY": ":5.1"])
    #expect(x.candidates(runtimeNames: sockets, xNames: ["X0", "X5"]) == [.x(display: ":5.1")])
    #expect(x.candidates(runtimeNames: sockets, xNames: ["X0", "X50"]) == [])
    #expect(x.isXSocket("X5"))
    #expect(!x.isXSocket("X50"))
  }

  @Test(
    "A display on another machine is not used", arguments: ["host:0", "", ":", "localhost:10.0"])
  func remote(_ display: String) {
    let x = environment(["DISPLAY": display])
    #expect(x.candidates(runtimeNames: [], xNames: ["X", "X0", "X10"]) == [])
  }

  @Test("The session bus is a Unix socket of the environment, or the socket in $XDG_RUNTIME_DIR")
  func busAddress() {
    func address(_ variables: [String: String]) -> String? {
      SessionEnvironment(uid: 1000) { variables[$0] }.busAddress
    }
    #expect(address([:]) == nil)
    #expect(address(["XDG_RUNTIME_DIR": "/run/user/1000"]) == "unix:path=/run/user/1000/bus")
    #expect(address(["XDG_RUNTIME_DIR": "/a b,c"]) == "unix:path=/a%20b%2cc/bus")
    let named = "unix:path=/tmp/bus,guid=0123456789abcdef0123456789abcdef"
    #expect(
      address(["XDG_RUNTIME_DIR": "/run", "DBUS_SESSION_BUS_ADDRESS": named])
        == "unix:path=/tmp/bus", "another bus with another guid may use the path later")
  }

  @Test("§17: The system bus is a Unix socket of the environment, or the socket of the machine")
  func systemBusAddress() {
    #expect(environment([:]).systemBusAddress == "unix:path=/run/dbus/system_bus_socket")
    let named = environment(["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/tmp/bus,guid=0123456789abcdef"])
    #expect(named.systemBusAddress == "unix:path=/tmp/bus")
    #expect(environment(["DBUS_SYSTEM_BUS_ADDRESS": "autolaunch:"]).systemBusAddress == nil)
  }

  @Test(
    "Addresses that would start a program or ask a name server are not used",
    arguments: ["autolaunch:", "unixexec:path=/bin/true", "tcp:host=example.org,port=1", ";"])
  func refusedAddress(_ address: String) {
    func used(_ address: String) -> String? {
      SessionEnvironment(uid: 1000) { $0 == "DBUS_SESSION_BUS_ADDRESS" ? address : nil }.busAddress
    }
    #expect(used(address) == nil)
    #expect(used(address + ";unix:abstract=/x") == "unix:abstract=/x")
  }
}
