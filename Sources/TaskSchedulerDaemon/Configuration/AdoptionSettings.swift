/// `[focus]`: the programs that the daemon begins to manage when their windows first appear
/// (contract §20).
public struct AdoptionSettings: Hashable, Sendable {
  /// The programs that an operator or user has chosen, by the app ids of their windows.
  public enum Programs: Hashable, Sendable {
    case all
    case only([String])
  }

  /// `adopt`.
  public var adopt = Programs.only([])
  /// `except`: app ids that `adopt = "all"` does not include.
  public var except: [String] = []
  /// `never`: app ids and names of programs that the daemon never adopts, even if another setting
  /// includes them. The daemon adds these names to ``AdoptionRules/builtInNames``.
  public var never: [String] = []

  public init() {}

  /// Returns whether the settings choose the program with this app id.
  func chooses(_ appID: String) -> Bool {
    switch adopt {
    case .all: !except.contains(appID)
    case .only(let ids): ids.contains(appID)
    }
  }
}
