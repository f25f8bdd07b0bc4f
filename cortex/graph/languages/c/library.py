"""Names of methods in the standard library of C++. A table only."""

from __future__ import annotations

#: containers, text, streams, pointers, locks and paths
CPP_METHODS = frozenset(
    (
        "assign back_inserter before_begin bucket bucket_count capacity cbefore_begin cbegin "
        "cend compare compare_exchange_strong compare_exchange_weak copyfmt count_down crbegin "
        "crend detach emplace emplace_after emplace_front emplace_hint ends_with equal_range "
        "erase_after exceptions exchange expired extension extract fetch_add fetch_and fetch_or "
        "fetch_sub fetch_xor filename find_first_not_of find_first_of find_last_not_of "
        "find_last_of flip gcount get_allocator get_deleter get_future getline has_value "
        "hash_code hash_function ignore imbue insert_after insert_or_assign is_absolute is_open "
        "is_relative joinable key_comp key_eq lexically_normal load_factor lower_bound "
        "make_preferred max_load_factor max_size merge native native_handle notify_all "
        "notify_one overflow owner_before parent_path peek pop_back pop_front position precision "
        "prefix push_front putback rbegin rdbuf rdstate readsome rehash remove_if remove_prefix "
        "remove_suffix rend replace_extension replace_filename request_stop reserve reset resize "
        "root_path seekg seekp set_exception set_value setf setstate share shrink_to_fit "
        "splice_after starts_with stem store substr suffix swap sync tellg tellp tie "
        "time_since_epoch transform try_emplace try_lock try_lock_for try_lock_until unget "
        "unique unsetf upper_bound use_count valid value value_comp value_or wait_for wait_until "
        "what widen width"
    ).split()
)
