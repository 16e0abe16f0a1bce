/// What exactly brought an end about, where that takes more than a few words.
extension ControlInterface {
  /// One that would have been ended for memory next.
  public struct MemoryRival: Codable, Hashable, Sendable {
    public var application: String
    public var owner: Int
    /// In bytes: private dirty and swapped.
    public var dirty: Int
    /// True where it could not be read in full, and is what statm tells.
    public var estimate: Bool

    public init(application: String, owner: Int, dirty: Int, estimate: Bool) {
      self.application = application
      self.owner = owner
      self.dirty = dirty
      self.estimate = estimate
    }
  }

  /// Why an application was chosen to end for memory, in bytes.
  public struct MemoryEnd: Codable, Hashable, Sendable {
    /// Its state then, which decides its class: suspended ones go before those of the background.
    public var state: State
    /// What its end would give back: private dirty and swapped.
    public var dirty: Int
    public var estimate: Bool
    /// How many of its class there were, it included.
    public var candidates: Int
    /// Those of its class that would have been next, as far as the caller may see them.
    public var next: [MemoryRival]
    /// What of the machine's memory was available.
    public var available: Int
    /// All of the machine's memory.
    public var total: Int
    /// When pressure began, and whoever ran was warned.
    public var pressedSinceUSec: Int
    /// When it was warned itself; null where it could not hear it.
    public var warnedAtUSec: Int?
    public var chosenAtUSec: Int
    /// How long it took to find out who it is, once one was to end; 0 where it was known before.
    public var choosingTimeUSec: Int

    public init(
      state: State, dirty: Int, estimate: Bool, candidates: Int, next: [MemoryRival],
      available: Int, total: Int, pressedSinceUSec: Int, warnedAtUSec: Int? = nil,
      chosenAtUSec: Int, choosingTimeUSec: Int
    ) {
      self.state = state
      self.dirty = dirty
      self.estimate = estimate
      self.candidates = candidates
      self.next = next
      self.available = available
      self.total = total
      self.pressedSinceUSec = pressedSinceUSec
      self.warnedAtUSec = warnedAtUSec
      self.chosenAtUSec = chosenAtUSec
      self.choosingTimeUSec = choosingTimeUSec
    }
  }

  /// The rule of the background that an application was killed for: what belongs to the end's
  /// reason is set.
  public struct BrokenRule: Codable, Hashable, Sendable {
    /// What it used of processors.
    public var processorUSec: Int?
    /// Within how long it did.
    public var withinUSec: Int?
    /// What it might have used, in percent of one processor.
    public var sharePercent: Int?
    /// True where that was the throttle, false where it had been throttled before.
    public var throttled: Bool?
    /// How long it used GPUs.
    public var gpuUSec: Int?
    /// What it held a lock or a lease on.
    public var path: String?

    public init(
      processorUSec: Int? = nil, withinUSec: Int? = nil, sharePercent: Int? = nil,
      throttled: Bool? = nil, gpuUSec: Int? = nil, path: String? = nil
    ) {
      self.processorUSec = processorUSec
      self.withinUSec = withinUSec
      self.sharePercent = sharePercent
      self.throttled = throttled
      self.gpuUSec = gpuUSec
      self.path = path
    }
  }
}
