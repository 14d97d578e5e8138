internal import Glibc

/// Texts as C has them in `argv` and `environ`, with a null at the end; valid inside the call.
package func withCStrings<Value>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var pointers = copies.map { UnsafePointer<CChar>($0) }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
}
