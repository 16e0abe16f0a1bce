import CLinux

/// The heap of this process.
public enum Heap {
  /// Makes the allocator return each block of 128 KiB or more to the kernel as soon as it is freed.
  ///
  /// Otherwise, glibc may keep a freed block if a block of at least the same size was freed before.
  /// A daemon that sometimes writes its whole state would then permanently occupy this memory.
  public static func returnLargeBlocks() { clinux_return_blocks(128 << 10) }

  /// Returns all empty pages to the kernel (malloc_trim(3)).
  public static func trim() { clinux_trim_heap() }
}
