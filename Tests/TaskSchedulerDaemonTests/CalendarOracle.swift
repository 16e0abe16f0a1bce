import LinuxSystem
import TestSupport
import Testing

/// The times that Python computes with zoneinfo, an independent reader of the same tz database.
/// zoneinfo cannot report when a gap in local time ends, so the Python program searches for the end
/// by bisection.
enum Oracle {
  /// Returns the output of a program as lines.
  static func lines(_ program: String, _ arguments: [String]) throws -> [String] {
    let folder = TemporaryDirectory()
    let output = folder.file("output")
    let process = try TestProcess.python(program, [output] + arguments)
    try #require(try process.waitForExit() == .exited(code: 0))
    let text = try BoundedFileBytes.of(output)
    return text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  private static let moment = """
    import sys
    sys.stdout = open(sys.argv.pop(1), "w")
    from datetime import datetime, timedelta, timezone
    from zoneinfo import ZoneInfo

    def moment(local, zone):
      def utc(fold):
        return int(local.replace(tzinfo=zone, fold=fold).timestamp())
      def shown(at):
        return datetime.fromtimestamp(at, zone).replace(tzinfo=None)
      if shown(utc(0)) == local:
        return utc(0)
      # The local time is in a gap. fold=1 uses the later offset, so utc(1) precedes the gap, and
      # utc(0) follows it. The search finds the first instant after the gap.
      low, high = utc(1), utc(0)
      while high - low > 1:
        middle = (low + high) // 2
        if shown(middle) < local:
          low = middle
        else:
          high = middle
      return high

    """

  /// A Python program with the arguments ZONE, INTERVAL, LAST-YEAR and any number of starts. For
  /// each start, it prints a line with all times until the end of LAST-YEAR.
  static let program = moment + """
    import calendar
    name, interval, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
    zone = ZoneInfo(name)

    def months(start, count):
      year, month = divmod(start.year * 12 + start.month - 1 + count, 12)
      days = calendar.monthrange(year, month + 1)[1]
      return start.replace(year=year, month=month + 1, day=min(start.day, days))

    def repetition(start, count):
      if interval == "day": return start + timedelta(days=count)
      if interval == "week": return start + timedelta(weeks=count)
      if interval == "month": return months(start, count)
      if interval == "year": return months(start, 12 * count)

    for text in sys.argv[4:]:
      start = datetime.fromisoformat(text)
      times = [moment(start, zone)]
      count = 1
      while interval != "none":
        local = repetition(start, count)
        if local.year > last: break
        times.append(moment(local, zone))
        count += 1
      print(" ".join(map(str, times)))
    """

  /// A Python program with the argument YEAR. It prints lines for all zones, with some times of
  /// that year.
  static let allZones = moment + """
    import zoneinfo
    year = int(sys.argv[1])
    for name in sorted(zoneinfo.available_timezones()):
      zone = ZoneInfo(name)
      for month, day, hour in [
          (1, 2, 0), (3, 29, 2), (4, 5, 2), (7, 1, 12), (10, 25, 2), (12, 30, 23)]:
        local = datetime(year, month, day, hour, 30, 15)
        print(name, local.isoformat(), moment(local, zone))
    """
}

/// A time zone file that contains only a rule and no transitions.
enum ZoneFile {
  static func bytes(footer: String) -> [UInt8] {
    let header: [UInt8] = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
    let counts: [UInt8] = [0, 0, 0, 0, 1, 4].flatMap { [0, 0, 0, $0] as [UInt8] }
    let body: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)
    let part = header + counts + body
    return part + part + Array("\n\(footer)\n".utf8)
  }
}
