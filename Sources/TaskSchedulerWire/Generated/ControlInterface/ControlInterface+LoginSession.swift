// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A login session, as logind describes it.
  public struct LoginSession: WireStructure {
    /// logind's id of the session.
    public var session: String
    /// The uid of its user.
    public var user: Int
    /// The default seat of the user's applications: user-UID; see Application.seat.
    public var seat: String
    /// logind's seat, such as seat0; null for a session without one, such as a remote desktop.
    public var loginSeat: String?
    /// wayland, x11, tty and others.
    public var type: String
    /// Whether it is on the screen of its seat. A session without a seat is always active.
    public var active: Bool
    /// Whether its screen is locked.
    public var locked: Bool

    public static let fieldNames = [
      "session", "user", "seat", "loginSeat", "type", "active", "locked",
    ]

    public init(
      session: String, user: Int, seat: String, loginSeat: String? = nil, type: String,
      active: Bool, locked: Bool
    ) {
      self.session = session
      self.user = user
      self.seat = seat
      self.loginSeat = loginSeat
      self.type = type
      self.active = active
      self.locked = locked
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      session = try fields.required("session")
      user = try fields.required("user")
      seat = try fields.required("seat")
      loginSeat = try fields.optional("loginSeat")
      type = try fields.required("type")
      active = try fields.required("active")
      locked = try fields.required("locked")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "session", session)
      object.append(field: "user", user)
      object.append(field: "seat", seat)
      object.append(field: "loginSeat", loginSeat)
      object.append(field: "type", type)
      object.append(field: "active", active)
      object.append(field: "locked", locked)
    }
  }
}
