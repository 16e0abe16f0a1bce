/// The version of the project, for introspection and `--version`.
public enum Version {
  /// The version in the form of semantic versioning.
  public static let current = "0.1.0"
}
