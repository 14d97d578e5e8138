internal import COpenSSL

/// A secret as it is stored: scrypt (RFC 7914), memory-hard, with its own salt and its parameters beside it, so that they can be raised
/// later without losing what is stored.
enum SecretHash {
    struct Cost: Sendable, Hashable {
        /// N of scrypt, a power of two. Memory is 128 · r · N octets.
        let rounds: UInt64
        let blockSize: UInt64
        let parallelism: UInt64

        /// For a device's secret: 256 random bits, which nobody guesses. The cost is for whoever steals the database; 16 MiB and some
        /// 40 ms of one processor for each authentication.
        static let device = Cost(rounds: 1 << 14, blockSize: 8, parallelism: 1)
        /// For a password that a person chose: 64 MiB and some 200 ms.
        static let password = Cost(rounds: 1 << 16, blockSize: 8, parallelism: 1)
    }

    static func make(_ secret: String, cost: Cost) -> String {
        let salt = RandomOctets.make(16)
        let hash = derive(secret, salt, cost)
        return "scrypt$\(cost.rounds)$\(cost.blockSize)$\(cost.parallelism)$\(Base64.urlText(salt))$\(Base64.urlText(hash))"
    }

    static func matches(_ secret: String, _ stored: String) -> Bool {
        let parts = stored.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let rounds = UInt64(parts[1]), let blockSize = UInt64(parts[2]),
            let parallelism = UInt64(parts[3]), let salt = Base64.octets(url: parts[4]), let hash = Base64.octets(url: parts[5]),
            hash.count == 32
        else { return false }
        return Hash.areEqual(derive(secret, salt, Cost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)), hash)
    }

    private static func derive(_ secret: String, _ salt: [UInt8], _ cost: Cost) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 32)
        let memory = 128 * cost.blockSize * (cost.rounds + cost.parallelism + 2)
        var secret = secret
        let isDone = secret.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                EVP_PBE_scrypt(
                    $0.baseAddress, $0.count, salt, salt.count, cost.rounds, cost.blockSize, cost.parallelism, memory, &key, key.count)
            }
        }
        // Out of memory: an empty key would match another one that failed.
        guard isDone == 1 else { return [] }
        return key
    }
}
