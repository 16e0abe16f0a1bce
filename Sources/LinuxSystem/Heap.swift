import CLinux

/// The process's own heap.
public enum Heap {
  /// Returns to the kernel all pages that hold nothing (malloc_trim(3)).
  public static func trim() { clinux_trim_heap() }
}
