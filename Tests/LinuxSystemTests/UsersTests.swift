import Glibc
import LinuxSystem
import Testing

@Suite("Users and groups")
struct UsersTests {
  @Test("Users and groups are found by name and by id, with the same result")
  func root() throws {
    let root = try #require(try Users.user(named: "root"))
    #expect(root.uid == 0)
    #expect(root.home.hasPrefix("/"))
    #expect(try Users.user(uid: 0) == root)
    #expect(try Users.group(named: "root") == 0)
    #expect(Users.groups(of: root).contains(root.gid))
  }

  @Test("Users and groups that do not exist are nil")
  func unknown() throws {
    #expect(try Users.user(named: "no-such-user-here") == nil)
    #expect(try Users.user(uid: 4_000_000_123) == nil)
    #expect(try Users.group(named: "no-such-group-here") == nil)
  }

  @Test("The ids of this process are its effective ids")
  func own() {
    #expect(Users.effectiveUID == geteuid())
    #expect(Users.effectiveGID == getegid())
  }
}
