import FuzzTargets
import Glibc

@_silgen_name("__lsan_disable")
private func leaksDisable()
@_silgen_name("__lsan_enable")
private func leaksEnable()

/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget.named(name) else {
    let names = FuzzTarget.all.map(\.name).joined(separator: ", ")
    print("FUZZ_TARGET is '\(name)'; it must be one of \(names)")
    fflush(nil)
    // libFuzzer reports exit() as a finding.
    _exit(2)
  }
  // Swift stores additional bits in pointers, so the leak sanitizer does not recognize these
  // pointers. Without `leaksDisable`, it would report every object that lives as long as the
  // program.
  leaksDisable()
  FuzzTarget.prepare()
  leaksEnable()
  return target
}()

/// libFuzzer calls this function with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try target.run(UnsafeRawBufferPointer(start: start, count: count))
  } catch {
    fatalError("\(target): \(error)")
  }
  return 0
}
