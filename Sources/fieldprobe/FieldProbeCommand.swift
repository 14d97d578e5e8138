@main
enum FieldProbeCommand {
    static func main() {}
}
