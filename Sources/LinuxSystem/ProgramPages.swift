import Glibc

/// The pages of programs and libraries that this process has mapped.
public enum ProgramPages {
  /// Unmaps the pages of all files that this process has mapped read-only and has not changed.
  ///
  /// The pages stay in the page cache. The next access to a page maps it again, without a read from
  /// disk. Call this after the start of a long-lived process. The code that runs only at the start
  /// then no longer counts as resident memory. The same applies to pages around this code that the
  /// kernel has mapped too.
  ///
  /// - Throws: The failure to read /proc/self/smaps, or the failure of madvise(2).
  public static func unmapUnchanged() throws(SystemError) {
    for mapping in try mappings() where mapping.isUnchangedFile && mapping.bytesResident > 0 {
      let address = UnsafeMutableRawPointer(bitPattern: mapping.addresses.lowerBound)
      try check("madvise") { madvise(address, mapping.addresses.count, MADV_DONTNEED) }
    }
  }

  /// A mapping of this process, as smaps describes it; see proc_pid_smaps(5).
  struct Mapping {
    var addresses: Range<UInt>
    /// Whether the mapping is private, shows a file, and is not writable.
    var isReadOnlyFile: Bool
    var bytesResident = 0
    /// The bytes that differ from the file: relocated, written by a debugger, or swapped.
    var bytesChanged = 0

    /// Whether the kernel can read all contents of the mapping from the file again.
    var isUnchangedFile: Bool { isReadOnlyFile && bytesChanged == 0 }

    /// Reads a header: `7f12a000-7f12c000 r-xp 00000000 08:01 1234 /usr/lib/libm.so.6`.
    fileprivate init?(header words: [Substring]) {
      let ends = words[0].split(separator: "-").map { UInt($0, radix: 16) }
      guard words.count >= 5, ends.count == 2, let start = ends[0], let end = ends[1], start < end
      else { return nil }
      addresses = start..<end
      let permissions = words[1].utf8
      isReadOnlyFile =
        permissions.elementsEqual("r-xp".utf8) || permissions.elementsEqual("r--p".utf8)
      isReadOnlyFile = isReadOnlyFile && words.count > 5 && words[5].hasPrefix("/")
    }
  }

  static func mappings() throws(SystemError) -> [Mapping] {
    let text = String(
      decoding: try FileDescriptor.open(reading: "/proc/self/smaps").readToEnd(), as: UTF8.self)
    var mappings: [Mapping] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if let mapping = Mapping(header: words) {
        mappings.append(mapping)
        continue
      }
      guard words.count == 3, let kilobytes = Int(words[1]), !mappings.isEmpty else { continue }
      switch words[0] {
      case "Rss:": mappings[mappings.count - 1].bytesResident = kilobytes << 10
      case "Anonymous:", "Swap:": mappings[mappings.count - 1].bytesChanged += kilobytes << 10
      default: continue
      }
    }
    return mappings
  }
}
