import CSystemd
import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A provider that reports changes between mains and battery, as UPower reports them.
///
/// The provider does not start the bus or UPower, and does not wait for them. It asks UPower when
/// both have appeared. A signal only triggers a question to UPower, because every process can send
/// signals on the system bus.
final class PowerProvider: SystemChangeProvider {
  let subject = "the power source"
  private let loop: EventLoop
  private let address: BusAddress
  private let report: SystemChangeReport
  private let absent: (String) -> Void
  private var bus: MessageBus?
  private var timer: TimerSource?
  private var isAsked = false
  private var isToBeAskedAgain = false
  private var askedAt: UInt64 = 0
  private var reconnectsAfter = PowerProvider.reconnectMin
  private var hasReportedAbsence = false
  /// The value in the last report, or at the start; nil while it is unknown.
  private(set) var isOnBattery: Bool?

  private static let service = "org.freedesktop.UPower"
  private static let path = "/org/freedesktop/UPower"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let answerMax: Duration = .seconds(25)
  /// The minimum interval between questions to UPower, however many signals arrive.
  private static let pause: Duration = .milliseconds(250)
  /// The first delay before the provider connects again to a bus that it lost. The bus probably
  /// restarts. The delay doubles with each attempt.
  private static let reconnectMin: Duration = .seconds(1)
  private static let reconnectMax: Duration = .seconds(3600)

  /// - Parameter absent: Called once with the reason why the power source is unknown.
  init(
    loop: EventLoop, address: BusAddress, report: @escaping SystemChangeReport,
    absent: @escaping (String) -> Void
  ) {
    self.loop = loop
    self.address = address
    self.report = report
    self.absent = absent
  }

  func start() throws(SystemError) {
    timer = try loop.timer { [weak self] in self?.timeIsUp() }
    let bus = MessageBus(loop: loop, address: address)
    bus.listen { [weak self] in self?.received($0) }
    self.bus = bus
    // If there is no bus, inotify reports when a bus appears.
    try bus.connect(waiting: true)
  }

  private func received(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .message(let message):
      if Self.isSign(message) { ask() }
    case .changed:
      switch bus?.state {
      case .connected:
        reconnectsAfter = Self.reconnectMin
        subscribe()
        ask()
      case .lost(let reason):
        reportAbsence(reason)
        isAsked = false
        timer?.set(BootClock.after(reconnectsAfter))
        reconnectsAfter = min(reconnectsAfter * 2, Self.reconnectMax)
      case .closed, .connecting, nil:
        break
      }
    }
  }

  private func timeIsUp() {
    if bus?.state == .connected { return ask() }
    // If connecting is impossible, the provider stops.
    try? bus?.connect(waiting: true)
  }

  /// Returns whether a message shows that a property of UPower may have changed, or that UPower
  /// appeared or disappeared.
  private static func isSign(_ message: OpaquePointer) -> Bool {
    sd_bus_message_is_signal(message, properties, "PropertiesChanged") > 0
      || sd_bus_message_is_signal(message, "org.freedesktop.DBus", "NameOwnerChanged") > 0
  }

  private func subscribe() {
    let signals = [
      "sender='\(Self.service)',path='\(Self.path)',interface='\(Self.properties)',"
        + "member='PropertiesChanged'",
      "sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
        + "member='NameOwnerChanged',arg0='\(Self.service)'",
    ]
    for signal in signals {
      // If the bus refuses the subscription, the provider keeps the value that it read at the
      // start.
      _ = try? bus?.call(
        .ofBus("AddMatch"), timeout: Self.answerMax,
        arguments: { body throws(SystemError) in try body.append("type='signal',\(signal)") },
        answer: { _ in })
    }
  }

  // MARK: Asking

  private func ask() {
    let now = BootClock.now()
    let next = askedAt + UInt64(Self.pause.microseconds) * 1000
    if isAsked {
      isToBeAskedAgain = true
    } else if askedAt != 0, now < next {
      timer?.set(next)
    } else {
      askedAt = now
      isAsked = send()
    }
  }

  private func send() -> Bool {
    let method = BusMethod(
      destination: Self.service, path: Self.path, interface: Self.properties, member: "Get")
    let call = try? bus?.call(
      method, timeout: Self.answerMax,
      arguments: { body throws(SystemError) in
        try body.append(Self.service)
        try body.append("OnBattery")
      },
      answer: { [weak self] in self?.answered($0) })
    return call != nil
  }

  private func answered(_ answer: BusAnswer) {
    isAsked = false
    if isToBeAskedAgain {
      isToBeAskedAgain = false
      ask()
    }
    switch answer {
    case .reply(let values):
      guard let present = values.flagInVariant() else { return }
      let last = isOnBattery
      isOnBattery = present
      if let last, last != present {
        report(SystemChange(kind: .powerSource, value: present ? "battery" : "mains"))
      }
    case .error(let error):
      reportAbsence("UPower answers with an error: \(error)")
    case .dropped:
      break
    }
  }

  private func reportAbsence(_ reason: String) {
    if hasReportedAbsence { return }
    hasReportedAbsence = true
    absent(reason)
  }
}
