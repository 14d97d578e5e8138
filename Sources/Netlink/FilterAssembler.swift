internal import CNetlink
internal import Glibc

/// Writes a classic BPF program with labels instead of counted jumps.
struct FilterAssembler {
    struct Label { fileprivate let number: Int }

    private struct Instruction {
        var code: UInt16
        var operand: UInt32
        var ifTrue: Label?
        var ifFalse: Label?
    }

    private var instructions: [Instruction] = []
    /// Index of the instruction that each label stands before.
    private var places: [Int] = []

    /// A place to jump to, which is set once with ``place(_:)``.
    mutating func label() -> Label {
        places.append(0)
        return Label(number: places.count - 1)
    }

    mutating func place(_ label: Label) { places[label.number] = instructions.count }

    mutating func add(_ code: Int32, _ operand: UInt32) {
        instructions.append(Instruction(code: UInt16(code), operand: operand))
    }

    /// A conditional jump; nil goes on with the next instruction. A label must stand within 255 instructions behind.
    mutating func jump(_ comparison: Int32, _ operand: UInt32, ifTrue: Label? = nil, ifFalse: Label? = nil) {
        instructions.append(
            Instruction(code: UInt16(BPF_JMP | comparison | BPF_K), operand: operand, ifTrue: ifTrue, ifFalse: ifFalse))
    }

    func assembled() -> [sock_filter] {
        instructions.enumerated().map { index, instruction in
            func distance(_ label: Label?) -> UInt8 { label.map { UInt8(places[$0.number] - index - 1) } ?? 0 }
            return sock_filter(
                code: instruction.code, jt: distance(instruction.ifTrue), jf: distance(instruction.ifFalse), k: instruction.operand)
        }
    }
}
