/// The version of the project: what the daemon tells by introspection, and `--version` prints.
public enum Version {
  /// As semantic versioning writes it.
  public static let current = "0.1.0"
}
