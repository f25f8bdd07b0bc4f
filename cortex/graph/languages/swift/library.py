"""Names of methods in the standard library of Swift and Foundation. A table only."""

from __future__ import annotations

#: containers, text, data, coders and tasks
SWIFT_METHODS = frozenset(
    (
        "addingPercentEncoding allSatisfy appendingPathComponent appendingPathExtension applying "
        "bindMemory capitalized compactMap compactMapValues compare components copyBytes "
        "dataTask decodeIfPresent deinitialize deletingLastPathComponent deletingPathExtension "
        "distance dropFirst dropLast elementsEqual encodeIfPresent enumerated firstIndex "
        "formIndex formIntersection formSymmetricDifference formUnion formatted hasPrefix "
        "hasSuffix hash initialize isDisjoint isStrictSubset isStrictSuperset isSubset "
        "isSuperset joined lastIndex lexicographicallyPrecedes lowercased makeIterator mapValues "
        "max merge merging min move nestedContainer nestedUnkeyedContainer notify ordered "
        "padding popFirst popLast prefix quotientAndRemainder randomElement range removeAll "
        "removeFirst removeLast removeSubrange removeValue replaceSubrange replacingOccurrences "
        "reserveCapacity resume reversed rounded shuffle shuffled signal sorted starts store "
        "subdata subtract subtracting suffix suspend swapAt symmetricDifference "
        "trimmingCharacters trimmingPrefix updateValue uppercased withMemoryRebound "
        "withUnsafeBufferPointer withUnsafeBytes withUnsafeMutableBytes"
    ).split()
)
