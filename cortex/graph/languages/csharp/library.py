"""Names of C#'s library and built-in types. Tables only."""

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

#: containers, text, streams, tasks, locks, reflection and dates
CSHARP_METHODS = frozenset(
    (
        "AddAfter AddBefore AddDays AddFirst AddHours AddLast AddMilliseconds AddMinutes "
        "AddMonths AddOrUpdate AddRange AddSeconds AddTicks AddYears Append AppendFormat "
        "AppendJoin AppendLine AsReadOnly AsSpan BeginInvoke BeginRead BeginWrite BinarySearch "
        "Cancel CancelAfter Clear Clone Compare CompareExchange CompareTo ConfigureAwait "
        "Contains ContainsKey ContainsValue ContinueWith ConvertAll Copy CopyTo CopyToAsync "
        "CreateInstance Decrement Dequeue DynamicInvoke EndInvoke EndRead EndWrite EndsWith "
        "Enqueue EnqueueDequeue EnqueueRange EnsureCapacity EnterReadLock EnterWriteLock "
        "ExceptWith Exists ExitReadLock ExitWriteLock Find FindAll FindIndex FindLast "
        "FindLastIndex Flush FlushAsync ForEach Format GetAsyncEnumerator GetAwaiter GetByte "
        "GetBytes GetChars GetConstructor GetConstructors GetConsumingEnumerable "
        "GetCustomAttribute GetCustomAttributes GetDecoder GetEncoder GetEnumerator GetEvent "
        "GetField GetFields GetGenericArguments GetInterface GetInterfaces GetInvocationList "
        "GetLength GetLowerBound GetMember GetMembers GetMethod GetMethods GetNestedType "
        "GetObjectData GetOrAdd GetProperties GetProperty GetRange GetResult GetService "
        "GetString GetUpperBound GetValue GetValueOrDefault GetViewBetween Increment IndexOf "
        "IndexOfAny Insert InsertRange IntersectWith Invoke IsAssignableFrom IsDefined "
        "IsInstanceOfType IsMatch IsProperSubsetOf IsProperSupersetOf IsSubclassOf IsSubsetOf "
        "IsSupersetOf Join LastIndexOf LastIndexOfAny MakeGenericMethod MakeGenericType Match "
        "Matches MoveNext MoveNextAsync Normalize Overlaps PadLeft PadRight Peek Pop Pulse "
        "PulseAll Push PushRange ReadAsync ReadBlock ReadBoolean ReadByte ReadBytes ReadChar "
        "ReadChars ReadDecimal ReadDouble ReadExactly ReadInt16 ReadInt32 ReadInt64 ReadLine "
        "ReadLineAsync ReadSingle ReadString ReadToEnd ReadToEndAsync ReadUInt16 ReadUInt32 "
        "ReadUInt64 Release Remove RemoveAll RemoveAt RemoveFirst RemoveLast RemoveRange "
        "RemoveWhere Replace Reset Reverse RunSynchronously Seek SetByte SetCanceled SetEquals "
        "SetException SetLength SetResult SetValue Signal SignalAndWait Slice Sort Split "
        "StartsWith Substring Subtract SymmetricExceptWith ToArray ToBinary ToCharArray "
        "ToFileTime ToLocalTime ToLongDateString ToLower ToLowerInvariant ToShortDateString "
        "ToUniversalTime ToUpper ToUpperInvariant Trim TrimEnd TrimExcess TrimStart TrueForAll "
        "TryAdd TryDequeue TryGetValue TryPeek TryPop TryRemove TrySetCanceled TrySetException "
        "TrySetResult TryTake TryUpdate UnionWith WaitAsync WaitOne WriteAsync WriteByte "
        "WriteLine WriteLineAsync"
    ).split()
)
