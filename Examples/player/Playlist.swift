import FoundationEssentials
import Glibc
import Synchronization

/// A piece of music, as 16-bit samples of one channel.
struct Track {
  static let samplesPerSecond = 44_100
  let name: String
  private let data: Data

  /// Creates a track from a file, which is mapped into memory.
  static func file(_ path: String) -> Track {
    guard let data = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped) else {
      fail("player-example: cannot read \(path)")
    }
    return Track(name: path, data: data)
  }

  /// Creates a track with half a minute of a tone.
  static func tone(hertz: Int) -> Track {
    let second = (0..<samplesPerSecond).map { sample in
      Int16(3000 * sin(2 * .pi * Double(sample * hertz) / Double(samplesPerSecond)))
    }
    var data = Data()
    for _ in 0..<30 { data.append(second.withUnsafeBytes { Data($0) }) }
    return Track(name: "\(hertz) Hz", data: data)
  }

  /// Returns up to `count` samples as bytes, beginning at a position; no bytes at the end.
  func bytes(at sample: Int, count: Int) -> Data { data.dropFirst(sample * 2).prefix(count * 2) }
}

/// The tracks, and the position at which the player reads the next samples. The first track follows
/// the last one. The position is ahead of the audible sound by at most 0.2 s.
final class Playlist: Sendable, CustomStringConvertible {
  private struct Position: Codable {
    var track = 0
    var sample = 0
  }

  private let tracks: [Track]
  private let store: URL
  private let position: Mutex<Position>

  /// - Parameter path: the file that keeps the position until the next launch; it need not exist.
  init(_ tracks: [Track], keptIn path: String) {
    self.tracks = tracks
    store = URL(filePath: path)
    let kept = (try? Data(contentsOf: store)).flatMap {
      try? JSONDecoder().decode(Position.self, from: $0)
    }
    let isValid = kept.map { tracks.indices ~= $0.track && 0...Int(Int32.max) ~= $0.sample }
    position = Mutex(isValid == true ? kept! : Position())
  }

  /// Saves the position.
  func save() {
    do {
      try JSONEncoder().encode(position.withLock { $0 }).write(to: store, options: .atomic)
    } catch {
      say("the position is not saved: \(error)")
    }
  }

  var description: String {
    let (track, sample) = position.withLock { ($0.track, $0.sample) }
    let tenths = sample * 10 / Track.samplesPerSecond
    return "\(tenths / 10).\(tenths % 10) s of \(tracks[track].name)"
  }

  /// Returns the bytes of the next samples. At the end of a track, continues with the next track.
  /// Returns no bytes if all tracks are empty.
  func next(_ count: Int) -> Data {
    for _ in 0...tracks.count {
      let bytes = position.withLock { position in
        let bytes = tracks[position.track].bytes(at: position.sample, count: count)
        position.sample += bytes.count / 2
        return bytes
      }
      if bytes.count > 1 { return bytes }
      skip(1)
    }
    return Data()
  }

  /// Moves to the beginning of another track: `count` is 1 for the next track, -1 for the previous
  /// one. With 0, returns to the beginning of the current track.
  func skip(_ count: Int) {
    position.withLock { position in
      position = Position(track: (position.track + count + tracks.count) % tracks.count)
    }
    say("at \(self)")
  }

  /// Moves the position within the current track. A position after the end of the track means the
  /// start of the next track.
  func seek(by time: Duration) {
    let samples = Int(max(-1e9, min(time / .seconds(1) * Double(Track.samplesPerSecond), 1e9)))
    position.withLock { $0.sample = max(0, $0.sample + samples) }
    say("at \(self)")
  }
}
