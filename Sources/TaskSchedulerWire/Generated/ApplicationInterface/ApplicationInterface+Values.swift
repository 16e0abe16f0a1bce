// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The five states of an application.
  ///
  /// An application in the foreground is active or inactive; one in the background is in the state
  /// background or suspended. An application that comes to the foreground is inactive until it has
  /// acknowledged didFinishLaunching or willEnterForeground. Then it becomes active, and the daemon
  /// sends didBecomeActive, unless its window has appeared without the focus or an interruption has
  /// begun. In every other transition, the state changes as soon as the transition begins. For
  /// example, an application that is sent to the background is in the state background before it
  /// has acknowledged didEnterBackground.
  public enum State: String, WireEnumeration {
    case notRunning, inactive, active, background, suspended
  }

  /// The six lifecycle callbacks, and keepAlive, which calls the keep-alive handler. The
  /// application must acknowledge a lifecycle callback within CallbackTimeout (6 s by default), and
  /// keepAlive within KeepAliveHandlerTime (30 s by default). The daemon kills an application that
  /// does not acknowledge in time.
  public enum CallbackKind: String, WireEnumeration {
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case willTerminate
    case keepAlive
  }

  /// The reason why an instance was launched.
  /// - `user`: the user chose the application, or its process registered itself
  /// - `operator`: a user or an operator used taskctl launch, taskctl run or taskctl task
  /// - `boot`: the daemon started
  /// - `relaunch`: the previous instance terminated, and the daemon launched the application again
  /// - `location`: there was a significant location change, or a region was entered or left
  /// - `notification`: the user chose a notification
  /// - `call`: a modem has an incoming call, and the setting CallApplication names the application
  public enum LaunchReason: String, WireEnumeration {
    case user, `operator`, boot, relaunch, location, notification, call
  }

  /// The kind of a system change. An operator or a user posts a custom change, which has a name.
  public enum SystemChangeKind: String, WireEnumeration {
    case timeZone, clock, day, locale, network, powerSource, custom
  }

  /// The interval at which a notification repeats, by the calendar of its time zone.
  public enum RepeatInterval: String, WireEnumeration {
    case minute, hour, day, week, month, year
  }

  /// The state of a notification.
  /// - `scheduled`: it waits for its next time
  /// - `fired`: it has fired, and waits for a session agent that shows it
  /// - `presented`: it was shown to the user, or the active application received it; it does not
  ///   fire again
  public enum NotificationState: String, WireEnumeration {
    case scheduled, fired, presented
  }

  /// The kind of a command. playPause means pause if the application plays, and otherwise play.
  public enum RemoteCommandKind: String, WireEnumeration {
    case play, pause, playPause, next, previous, stop, seek
  }

  /// Whether the application may learn the location.
  /// - `notDetermined`: nothing is decided yet; the daemon asks the user
  /// - `denied`: the settings, an operator or the user denied access to the location
  /// - `authorized`: the settings, an operator or the user allowed access to the location
  public enum LocationAuthorization: String, WireEnumeration {
    case notDetermined, denied, authorized
  }

  /// The reason why an application may not learn the location.
  /// - `manifest`: the manifest does not name the location service
  /// - `settings`: the settings of the daemon deny access to the location
  /// - `user`: the user or an operator denied access to the location
  public enum LocationDenial: String, WireEnumeration {
    case manifest, settings, user
  }

  /// The accuracy that an application needs. GeoClue chooses its sources by the highest accuracy
  /// that any application needs at present; gpsd always uses all its receivers. A location may
  /// therefore be more accurate than the application needs. If no source is accurate enough, the
  /// location is less accurate.
  public enum LocationAccuracy: String, WireEnumeration {
    case best, tenMeters, hundredMeters, kilometer, threeKilometers
  }

  /// The category of an audio session. The names are those of AVAudioSession.
  /// - `ambient`: sounds that always play together with those of other applications
  /// - `soloAmbient`: sounds, such as those of a game, that should not play together with the
  ///   sounds of other applications
  /// - `playback`: music, speech or a film
  /// - `record`: a recording without playback
  /// - `playAndRecord`: playback and recording at the same time, such as a voice chat
  public enum AudioCategory: String, WireEnumeration {
    case ambient, soloAmbient, playback, record, playAndRecord
  }
}
