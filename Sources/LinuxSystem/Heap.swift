import CLinux

/// The heap of this process.
public enum Heap {
  /// Makes the allocator return each block of 128 KiB or more to the kernel as soon as it is freed.
  ///
  /// Otherwise glibc keeps free blocks as large as the largest block that was ever freed. A daemon
  /// that sometimes writes its whole state would permanently keep the memory for it.
  public static func returnLargeBlocks() { clinux_return_blocks(128 << 10) }

  /// Returns all empty pages to the kernel (malloc_trim(3)).
  public static func trim() { clinux_trim_heap() }
}
