import Synchronization
import TaskSchedulerClient

/// A music player that plays on in the background.
///
/// With the mode `audio`, the daemon does not suspend the player while the player has an audio
/// stream. When the player pauses, it ends its stream, so that the daemon can suspend it.
///
/// A phone call, or another application that begins to play, interrupts the player. After the
/// interruption, the player plays on only if the daemon says so. The user's commands, for example
/// from the keys of a headset, reach the player even while it is suspended.
final class Player: ApplicationDelegate {
  private struct State {
    /// The stream; nil while the player is paused.
    var stream: Stream?
    /// Whether an interruption has paused the player, and no command has come since.
    var isInterrupted = false
  }

  private let playlist: Playlist
  private let state = Mutex(State())

  init(_ playlist: Playlist) {
    self.playlist = playlist
  }

  // MARK: - States

  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
    say("launched (\(reason.rawValue))")
    do throws(ApplicationError) {
      try application.setAudioSessionAndWait(.playback)
    } catch {
      say("no audio session: \(error)")
    }
    play()
  }

  func applicationDidBecomeActive(_ application: ScheduledApplication) { say("active") }

  func applicationWillResignActive(_ application: ScheduledApplication) { say("inactive") }

  func applicationDidEnterBackground(_ application: ScheduledApplication) {
    // The daemon may end a suspended application without another event.
    playlist.save()
    say("in the background, at \(playlist)")
  }

  func applicationWillTerminate(_ application: ScheduledApplication) {
    pause()
    say("to be terminated")
  }

  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError
  ) {
    say("no longer managed: \(error)")
  }

  // MARK: - Interruptions and commands

  func application(
    _ application: ScheduledApplication, didReceiveAudioInterruption interruption: AudioInterruption
  ) {
    switch interruption {
    case .began:
      say("interrupted")
      let played = pause()
      state.withLock { $0.isInterrupted = played }
    case .ended(let shouldResume):
      say("the interruption has ended\(shouldResume ? "" : ": stay paused")")
      // If the user has paused the player during the interruption, it stays paused.
      if shouldResume, state.withLock({ $0.isInterrupted }) { play() }
    }
  }

  func application(
    _ application: ScheduledApplication, didReceiveRemoteCommand command: RemoteCommand
  ) {
    say("command: \(command)")
    state.withLock { $0.isInterrupted = false }
    switch command {
    case .play: play()
    case .pause: pause()
    case .playPause: if !pause() { play() }
    case .next: playlist.skip(1)
    case .previous: playlist.skip(-1)
    case .stop:
      pause()
      playlist.skip(0)
    case .seek(let time): playlist.seek(by: time)
    }
  }

  // MARK: - Playing

  private func play() {
    state.withLock { state in
      guard state.stream == nil else { return }
      state.isInterrupted = false
      say("playing from \(playlist)")
      state.stream = Stream(of: playlist) { [self] in lose($0) }
    }
  }

  /// Pauses the player. Returns whether it was playing.
  @discardableResult
  private func pause() -> Bool {
    let stream = state.withLock { state in
      defer { state.stream = nil }
      return state.stream
    }
    guard let stream else { return false }
    stream.end()
    playlist.save()
    say("paused at \(playlist)")
    return true
  }

  /// Handles the end of a stream. If it was the current stream, the player is now paused.
  private func lose(_ stream: Stream) {
    state.withLock { state in
      guard state.stream === stream else { return }
      state.stream = nil
      say("paused: the audio server has ended the stream")
    }
  }
}
