import Testing

@testable import TaskSchedulerCore

@Suite("Escapes of untrusted text")
struct PrintableTextTests {
  @Test(
    "Each character that controls, hides or reorders text is shown as an escape",
    arguments: [
      ("\0", #"\x00"#), ("\t", #"\t"#), ("\n", #"\n"#), ("\r", #"\r"#), ("\u{1b}", #"\x1b"#),
      ("\u{7f}", #"\x7f"#), ("\u{85}", #"\x85"#), ("\u{9b}", #"\x9b"#), ("\u{ad}", #"\xad"#),
      ("\u{34f}", #"\u034f"#), ("\u{61c}", #"\u061c"#), ("\u{115f}", #"\u115f"#),
      ("\u{180e}", #"\u180e"#), ("\u{200b}", #"\u200b"#), ("\u{200d}", #"\u200d"#),
      ("\u{200e}", #"\u200e"#), ("\u{2028}", #"\u2028"#), ("\u{2029}", #"\u2029"#),
      ("\u{202a}", #"\u202a"#), ("\u{202e}", #"\u202e"#), ("\u{2060}", #"\u2060"#),
      ("\u{2066}", #"\u2066"#), ("\u{2069}", #"\u2069"#), ("\u{3164}", #"\u3164"#),
      ("\u{fe0f}", #"\ufe0f"#), ("\u{feff}", #"\ufeff"#), ("\u{fff9}", #"\ufff9"#),
      ("\u{1d173}", #"\U0001d173"#), ("\u{e0001}", #"\U000e0001"#),
      ("\u{e0041}", #"\U000e0041"#), ("\u{e007f}", #"\U000e007f"#),
      ("\u{e0100}", #"\U000e0100"#),
    ])
  func escapes(_ text: String, _ shown: String) {
    #expect(PrintableText.of(text) == shown)
    #expect(
      PrintableText.of("a\(text)b") == "a\(shown)b",
      "the escape does not depend on other characters")
    #expect(PrintableText.quoted("a\(text)") == "\"a\(shown)\"")
    #expect(PrintableText.of(PrintableText.of(text)) == shown, "a second escape changes nothing")
  }

  @Test(
    "Text of any script stays as it is, with its combining marks",
    arguments: [
      "", "a b", "grüße", "naïve e\u{301}", "Ελλάς", "日本語", "עברית", "नमस्ते", "🎵", "→ …",
    ])
  func plain(_ text: String) {
    #expect(PrintableText.of(text) == text)
    #expect(PrintableText.quoted(text) == "\"\(text)\"")
  }

  @Test("A quoted text has a visible end, and at most the length of a line")
  func quotes() {
    #expect(PrintableText.quoted(#"a" \b"#) == #""a\" \\b""#)
    #expect(PrintableText.quoted(String(repeating: "x", count: 81)).count == 80 + 3)
    #expect(PrintableText.quoted("abc", lengthMax: 2) == "\"ab\"…")
    #expect(PrintableText.quotedWhole(String(repeating: "x", count: 81)).count == 81 + 2)
  }
}
