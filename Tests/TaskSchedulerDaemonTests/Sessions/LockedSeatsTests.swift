import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

@Suite("§20 The seats that are locked")
struct LockedSeatsTests {
  private static let desktop = LoginSession(id: "2", uid: 1000, seat: "seat0", type: "wayland")

  private func locked(_ sessions: (LoginSession, Bool)...) -> [String] {
    LockedSeats.seats(of: sessions.map { (session: $0.0, isLocked: $0.1) }).map(\.name).sorted()
  }

  private func changed(_ change: (inout LoginSession) -> Void) -> LoginSession {
    var session = Self.desktop
    change(&session)
    return session
  }

  @Test("The lock of a graphical session locks the seat of its user, and the seat of logind")
  func locks() {
    #expect(locked((Self.desktop, true)) == ["seat0", "user-1000"])
    #expect(locked((Self.desktop, false)).isEmpty)
    #expect(locked().isEmpty)
  }

  @Test("Of two users at seat0, the seat of the user whose session is not on the screen is locked")
  func switchesUser() {
    let away = changed { $0.isActive = false }
    let other = changed {
      $0.id = "3"
      $0.uid = 1001
    }
    #expect(locked((away, false), (other, false)) == ["user-1000"])
    #expect(locked((away, true), (other, false)) == ["user-1000"])
    #expect(locked((away, false), (other, true)) == ["seat0", "user-1000", "user-1001"])
  }

  @Test("A user is at a screen while a session of the user is active at a seat")
  func isAtScreen() {
    #expect(Self.desktop.isAtScreen)
    #expect(changed { $0.type = "tty" }.isAtScreen)
    let others = [
      changed { $0.isActive = false }, changed { $0.seat = nil }, changed { $0.isRemote = true },
      changed { $0.isClosing = true }, changed { $0.sessionClass = "greeter" },
    ]
    #expect(others.allSatisfy { !$0.isAtScreen })
  }

  @Test("A remote desktop without a seat locks only the seat of its user")
  func remote() {
    let remote = changed {
      $0.seat = nil
      $0.isRemote = true
    }
    #expect(locked((remote, true)) == ["user-1000"])
  }

  @Test("A seat is not locked while one of the user's graphical sessions is unlocked")
  func severalSessions() {
    let second = changed {
      $0.id = "7"
      $0.seat = nil
    }
    #expect(locked((Self.desktop, true), (second, false)) == ["seat0"])
    #expect(locked((Self.desktop, true), (second, true)) == ["seat0", "user-1000"])
  }

  @Test(
    "Sessions of ssh, greeters and sessions that end lock nothing",
    arguments: [
      { (session: inout LoginSession) in
        session.type = "tty"
        session.seat = nil
        session.isRemote = true
      }, { $0.sessionClass = "greeter" }, { $0.sessionClass = "manager" },
      { $0.isClosing = true },
    ] as [@Sendable (inout LoginSession) -> Void])
  func others(change: @Sendable (inout LoginSession) -> Void) {
    #expect(locked((changed(change), true)).isEmpty)
  }

  @Test("A text console counts only for a user without a graphical session")
  func console() {
    let console = changed {
      $0.id = "1"
      $0.type = "tty"
    }
    #expect(locked((console, true)) == ["seat0", "user-1000"])
    let hidden = changed { $0.isActive = false }
    #expect(locked((hidden, false), (console, false)) == ["user-1000"])
  }
}

@Suite("§20 The lock of a session")
struct SessionLockTests {
  @Test("Without LockedHint, the signals Lock and Unlock lock and unlock a session")
  func signals() {
    var lock = SessionLock.unlocked
    lock.hintRead(false)
    lock.lockRequested()
    #expect(lock.isLocked)
    lock.hintRead(false)
    #expect(lock.isLocked)
    lock.unlockRequested()
    #expect(!lock.isLocked)
  }

  @Test("A desktop that sets LockedHint decides, and no signal Unlock is needed")
  func hint() {
    var lock = SessionLock.unlocked
    lock.lockRequested()
    lock.hintRead(true)
    lock.unlockRequested()
    #expect(lock.isLocked)
    lock.hintRead(false)
    #expect(!lock.isLocked)
    lock.hintRead(true)
    lock.lockRequested()
    lock.hintRead(false)
    #expect(!lock.isLocked)
  }
}
