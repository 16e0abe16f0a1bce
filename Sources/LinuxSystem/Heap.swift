import CLinux

/// The heap of this process.
public enum Heap {
  /// Returns all empty pages to the kernel (malloc_trim(3)).
  public static func trim() { clinux_trim_heap() }
}
