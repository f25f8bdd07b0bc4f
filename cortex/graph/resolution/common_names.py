"""Names that methods of the languages' own types have. A table alone."""

from __future__ import annotations

#: methods of the languages' own types: a call of one on an unknown receiver says nothing about the
#: project
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
