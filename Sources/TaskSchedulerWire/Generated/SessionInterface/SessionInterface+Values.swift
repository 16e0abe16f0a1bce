// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// How much of a window the user sees.
  /// - `focused`: the window has the keyboard focus
  /// - `visible`: the window is on the screen without the focus; other windows may cover it
  /// - `hidden`: the window is minimized, behind another tab, or on a workspace that is not on the
  ///   screen
  public enum Visibility: String, WireEnumeration {
    case focused, visible, hidden
  }

  /// How urgently the user must see a notification.
  public enum Urgency: String, WireEnumeration {
    case low, normal, critical
  }

  /// The direction of an audio stream.
  public enum AudioDirection: String, WireEnumeration {
    case playback, recording
  }

  /// What a stream is for: its property media.role.
  /// - `phone`: a phone call (phone or Communication)
  /// - `event`: a sound of the user interface, such as a click
  /// - `notification`: the sound of a notification
  /// - `accessibility`: speech of a screen reader and similar programs (a11y or Accessibility)
  /// - `other`: anything else
  public enum AudioRole: String, WireEnumeration {
    case phone, event, notification, accessibility, other
  }

  /// A call that another program made to a media player.
  /// - `command`: a command, or a call that sets a property
  /// - `read`: a call that only reads properties
  public enum PlayerCall: String, WireEnumeration {
    case command, read
  }

  /// A command to a media player.
  public typealias RemoteCommand = ControlInterface.RemoteCommand

  /// How accurate a location must be. GeoClue chooses its sources by this accuracy.
  public typealias LocationAccuracy = ApplicationInterface.LocationAccuracy

  /// A position of the machine, as GeoClue measured it. A field that GeoClue does not know is null.
  public typealias Location = ApplicationInterface.Location
}
