import CLinux

/// The heap of this process.
public enum Heap {
  /// Returns each block of 128 KiB or more to the kernel as soon as it is freed.
  ///
  /// Without this, glibc keeps free blocks of the size of the largest that was ever freed. A daemon
  /// that writes its whole state now and then would always keep the memory for that.
  public static func returnLargeBlocks() { clinux_return_blocks(128 << 10) }

  /// Returns all empty pages to the kernel (malloc_trim(3)).
  public static func trim() { clinux_trim_heap() }
}
