import CPulse
import EventLoop
import Glibc
import LinuxSystem

/// The end of a connection to an audio server.
package struct AudioFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Whether no server listens.
  var isRefused: Bool
  package var description: String
}

/// A connection to an audio server. The connection never blocks the loop.
final class AudioConnection {
  /// An event of the connection.
  enum Occurrence {
    /// The list of streams is complete.
    case listed([cpulse_stream])
    /// The list of streams is out of date.
    case stale
    /// The connection has ended. It reports nothing more.
    case ended(AudioFailure)
  }

  private let pulse: OpaquePointer
  private let report: (Occurrence) -> Void
  private var source: DescriptorSource?
  private var soon: DeferredSource?
  /// The deferred work that continues to read from a server that sends without a pause. The loop
  /// serves its other sources before this work.
  private var later: DeferredSource?

  /// Begins to connect to the server at `path`.
  ///
  /// - Parameter report: called from the loop only.
  init(
    path: String, loop: EventLoop, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    var error: Int32 = 0
    guard let pulse = cpulse_new(path, &error) else {
      throw SystemError(call: "pa_context_new", errno: -error)
    }
    self.pulse = pulse
    self.report = report
    source = try loop.watch(cpulse_descriptor(pulse), for: .input) { [weak self] _ in
      self?.dispatch()
    }
    soon = try loop.soon { [weak self] in self?.dispatch() }
    later = try loop.whenIdle { [weak self] in self?.dispatch() }
    soon?.request()
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
    cpulse_free(pulse)
  }

  /// The random number that the server chose when it started.
  var generation: UInt64 { UInt64(cpulse_cookie(pulse)) }
  /// Whether the server itself lowers, mutes or pauses streams according to their roles. The value
  /// was read with the last list.
  var managesRoles: Bool { cpulse_manages_roles(pulse) }
  /// Whether the last list was requested before an order was sent, or before a change.
  var isStale: Bool { cpulse_is_stale(pulse) }

  /// Reads the list of streams again.
  func refresh() {
    cpulse_refresh(pulse)
    soon?.request()
  }

  func setMute(_ stream: UInt32, _ isMuted: Bool) {
    cpulse_set_mute(pulse, stream, isMuted)
    soon?.request()
  }

  /// Sets the volume of the loudest channel, and keeps the balance of the channels.
  func setVolume(_ stream: UInt32, _ volume: Int) {
    cpulse_set_volume(pulse, stream, UInt32(clamping: volume))
    soon?.request()
  }

  /// Begins or ends the measurement of a playback stream.
  func setMeasured(_ stream: UInt32, _ isMeasured: Bool) {
    cpulse_set_measured(pulse, stream, isMeasured)
    soon?.request()
  }

  /// Stops reading and writing.
  private func close() {
    source = nil
    soon = nil
    later = nil
  }

  private func dispatch() {
    let result = cpulse_dispatch(pulse)
    if result < 0 {
      return end(AudioFailure(isRefused: false, description: "sd_event_run: errno \(-result)"))
    }
    if cpulse_state(pulse) == CPULSE_ENDED {
      return end(
        AudioFailure(
          isRefused: cpulse_is_refused(pulse), description: String(cString: cpulse_error(pulse))))
    }
    if result > 0 { later?.request() }
    if cpulse_take_listed(pulse) {
      report(
        .listed((0..<cpulse_stream_count(pulse)).map { cpulse_stream_at(pulse, $0) }))
    }
    if cpulse_is_stale(pulse) { report(.stale) }
  }

  private func end(_ failure: AudioFailure) {
    close()
    report(.ended(failure))
  }
}
