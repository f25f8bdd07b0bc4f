"""Names of methods in the languages' libraries, and the kinds of their results. Tables only."""

#: methods of a container that return an element, and members that return a container of the
#: same elements
ELEMENT_OF = frozenset(
    "get pop popleft popitem setdefault at shift find first last next peek unwrap top front back "
    "firstOrNull lastOrNull single singleOrNull getOrNull elementAt getValue getOrPut getOrElse removeAt "
    "removeFirst removeLast findLast maxByOrNull minByOrNull maxBy minBy random detect min_by max_by sample "
    "fetch delete_at First FirstOrDefault Last LastOrDefault Single SingleOrDefault ElementAt "
    "ElementAtOrDefault Find FindLast MinBy MaxBy Peek Pop Dequeue".split()
)
SAME_AS = frozenset(
    "values Values copy filter slice iter iter_mut stream sort reverse elements reversed sorted sortedBy "
    "sortedByDescending sortedWith filterNot filterNotNull distinct distinctBy take takeWhile takeLast drop "
    "dropWhile dropLast toList toMutableList toSet toMutableSet asSequence onEach orEmpty subList plus "
    "asReversed shuffled select reject sort_by compact uniq dup to_a each freeze concat push "
    "Where OrderBy OrderByDescending ThenBy ThenByDescending Skip SkipWhile SkipLast Take TakeWhile TakeLast "
    "Distinct DistinctBy Reverse ToList ToArray ToHashSet AsEnumerable Append Prepend Concat Union Except "
    "Intersect FindAll AsReadOnly".split()
)
#: members of C++ containers that return an iterator, and the field with the value of a map's pair:
#: such a pair is treated as its value
ITERATORS = frozenset("begin end cbegin cend rbegin rend crbegin crend find lower_bound upper_bound".split())
SECOND = "second"
#: the trait of Rust's types that act as another type
DEREF = "Deref"
#: methods of library types: a call of one on an unknown receiver says nothing about the project
COMMON = frozenset(
    name
    for kind in (str, bytes, list, dict, set, frozenset, tuple, int, float, type, object)
    for name in dir(kind)
) | frozenset(
    "append add get set push pop map filter reduce forEach find includes indexOf join slice splice concat "
    "keys values entries then catch finally toString valueOf hasOwnProperty call apply bind length size "
    "has delete clear next send close read write readline readlines writelines flush seek tell open start "
    "stop run wait lock unlock Lock Unlock RLock RUnlock Close Read Write Error String Len Less Swap Add "
    "Done Wait Get Set Load Store println print printf Println Printf Sprintf Errorf equals hashCode "
    "getClass iter collect unwrap expect clone len is_empty push_str as_str to_string into from iterator "
    "hasNext begin end push_back emplace_back front back at c_str str data empty insert erase match group "
    "search sub findall test exec trim replace toLowerCase toUpperCase charAt substring some every flat "
    "flatMap sort reverse fill on once emit off addEventListener removeEventListener querySelector log "
    "warn error info debug exception acquire release submit result cancel done set_result put task_done "
    "exists mkdir unlink resolve stat as_posix relative_to read_text write_text read_bytes write_bytes "
    "execute fetchone fetchall commit rollback cursor parse dump dumps loads load encode decode getvalue "
    "group_by order_by subscribe each select first last new inspect to_s to_a to_h respond_to also let "
    "takeIf forEachIndexed contains isEmpty ToString Equals GetHashCode Dispose Where Select First Any "
    "All Count raise puts print format sprintf require require_relative lambda proc loop fail sleep rand "
    "exit abort system binding caller freeze dup tap method define_method private public protected "
    "attr_reader attr_accessor attr_writer include extend prepend assert refute describe context it before "
    "after expect".split()
)

#: methods of the objects of JavaScript and Node.js: containers, strings, dates, emitters, streams,
