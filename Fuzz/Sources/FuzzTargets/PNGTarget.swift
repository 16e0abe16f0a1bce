import TaskSchedulerDaemon

/// The picture that an application gives to the application switcher. The daemon must accept an
/// image only if it can read the size, the image is complete, and no bytes follow the image.
enum PNGTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    guard let image = try? PNGImage(bytes) else { return }
    try require(bytes.count <= input.count, "the image has more bytes than the input")
    let size = (image.width, image.height)
    try require(size == (number(bytes, 16), number(bytes, 20)), "the size is \(size)")
    try require(
      image.width <= PNGImage.sideMax && image.height <= PNGImage.sideMax
        && image.width * image.height <= PNGImage.pixelsMax, "an image of \(size) is accepted")
    let header = try? PNGImage(header: Array(bytes.prefix(PNGImage.headerBytesCount)))
    try require(header == image, "the header alone says another size")
    for count in [bytes.count - 1, bytes.count - 12, bytes.count / 2] {
      let cut = try? PNGImage(Array(bytes.prefix(count)))
      try require(cut == nil, "the image is accepted without its end, with \(count) bytes")
    }
    let longer = try? PNGImage(bytes + [0])
    try require(longer == nil, "the image is accepted with another byte")
  }

  private static func number(_ bytes: [UInt8], _ place: Int) -> Int {
    (0..<4).reduce(0) { $0 * 256 + Int(bytes[place + $1]) }
  }
}
