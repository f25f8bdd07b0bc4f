"""Names of C#'s extensions of enumerables and built-in types. Tables only."""

from __future__ import annotations

#: extensions of everything enumerable
LINQ = frozenset(
    "Aggregate All Any Append AsEnumerable Average Cast Chunk Concat Contains Count DefaultIfEmpty Distinct "
    "DistinctBy ElementAt ElementAtOrDefault Except ExceptBy First FirstOrDefault GroupBy GroupJoin Intersect "
    "Join Last LastOrDefault LongCount Max MaxBy Min MinBy OfType Order OrderBy OrderByDescending Prepend "
    "Reverse Select SelectMany SequenceEqual Single SingleOrDefault Skip SkipLast SkipWhile Sum Take TakeLast "
    "TakeWhile ThenBy ThenByDescending ToArray ToDictionary ToHashSet ToList ToLookup Union UnionBy Where "
    "Zip".split()
)
#: names of the built-in types
CSHARP_TYPES = frozenset(
    "bool byte char decimal double float int long object sbyte short string uint ulong ushort".split()
)
