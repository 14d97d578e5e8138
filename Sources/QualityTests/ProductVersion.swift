/// The version of this package, as reports and `User-Agent` name it.
public enum ProductVersion {
    public static let current = "0.1.0"
}
