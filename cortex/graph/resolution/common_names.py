"""Names of methods in the languages' libraries, and the kinds of their results. Tables only."""

from __future__ import annotations

#: C#'s extensions of everything enumerable
LINQ = frozenset(
    "Aggregate All Any Append AsEnumerable Average Cast Chunk Concat Contains Count DefaultIfEmpty Distinct "
    "DistinctBy ElementAt ElementAtOrDefault Except ExceptBy First FirstOrDefault GroupBy GroupJoin Intersect "
    "Join Last LastOrDefault LongCount Max MaxBy Min MinBy OfType Order OrderBy OrderByDescending Prepend "
    "Reverse Select SelectMany SequenceEqual Single SingleOrDefault Skip SkipLast SkipWhile Sum Take TakeLast "
    "TakeWhile ThenBy ThenByDescending ToArray ToDictionary ToHashSet ToList ToLookup Union UnionBy Where "
    "Zip".split()
)
#: C#'s names of its built-in types
CSHARP_TYPES = frozenset(
    "bool byte char decimal double float int long object sbyte short string uint ulong ushort".split()
)
#: methods of a container that return an element, and members that return a container of the
#: same elements
ELEMENT_OF = frozenset(
    "get pop popleft popitem setdefault at shift find first last next peek unwrap top front back "
    "firstOrNull lastOrNull single singleOrNull getOrNull elementAt getValue getOrPut getOrElse removeAt "
    "removeFirst removeLast findLast maxByOrNull minByOrNull maxBy minBy random".split()
)
SAME_AS = frozenset(
    "values Values copy filter slice iter iter_mut stream sort reverse elements reversed sorted sortedBy "
    "sortedByDescending sortedWith filterNot filterNotNull distinct distinctBy take takeWhile takeLast drop "
    "dropWhile dropLast toList toMutableList toSet toMutableSet asSequence onEach orEmpty subList plus "
    "asReversed shuffled".split()
)
#: members of C++ containers that return an iterator, and the field with the value of a map's pair:
#: such a pair is treated as its value
ITERATORS = frozenset("begin end cbegin cend rbegin rend crbegin crend find lower_bound upper_bound".split())
SECOND = "second"
#: methods of Rust's Option, Result, Rc and similar types, which types.py replaces by their content
_UNWRAPS = frozenset(
    {"unwrap", "expect", "clone", "as_ref", "as_mut", "borrow", "borrow_mut", "lock", "unwrap_or_default"}
)
#: the trait of Rust's types that act as another type
DEREF = "Deref"
#: language → members that return their receiver, or a value of the same type
SAME = {"rust": _UNWRAPS, "ruby": frozenset("freeze dup clone tap itself".split())}

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

#: methods of Rust's containers, strings, pointers, iterators and locks
RUST = frozenset(
    (
        "abs add add_extension addr align align_offset align_to align_to_mut all alternate ancestors "
        "and and_then any append as_ascii as_bytes as_bytes_mut as_deref as_deref_mut as_mut "
        "as_mut_os_str as_mut_os_string as_mut_ptr as_mut_ptr_range as_mut_slice as_mut_slices "
        "as_mut_str as_mut_vec as_non_null as_non_null_ptr as_os_str as_path as_pin_mut as_pin_ref "
        "as_ptr as_ptr_range as_raw_fd as_ref as_slice as_slice_of_cells as_slices as_str assume_init "
        "assume_init_drop assume_init_mut assume_init_ref back back_mut binary_search binary_search_by "
        "borrow borrow_mut branch by_ref bytes call call_mut call_once canonicalize capacity cause "
        "chain char_indices chars checked_add checked_sub chunks clamp classify clear clear_poison "
        "clone clone_from clone_from_ref clone_from_slice clone_into cloned cmp cmp_by collect "
        "collect_into compare_and_swap compare_exchange compare_exchange_weak components concat connect "
        "connect_timeout contains contains_key copied copy_from copy_from_nonoverlapping "
        "copy_from_slice copy_to copy_to_nonoverlapping copy_within count create create_new current_dir "
        "cycle dangling data_ptr debug_list debug_map debug_set debug_struct debug_tuple dedup default "
        "deref deref_mut description difference display downcast downgrade drain drop drop_in_place "
        "duration_since elapsed element_offset encode_utf8 ends_with entry enumerate env env_clear "
        "env_remove eq_by err escape_ascii escape_debug escape_default escape_unicode exec exists "
        "extend extend_from_slice extend_from_within extend_front extend_one extend_reserve extension "
        "extract_bits file_name file_prefix file_stem fill fill_with filter filter_map find find_map "
        "finish first first_entry first_key_value first_mut flags flat_map flatten flatten_mut "
        "flatten_ref flush fmt fold for_each force_quotes format_into from from_raw front front_mut "
        "fuse get get_cloned get_current_dir get_key_value get_mut get_mut_slice get_or_insert "
        "get_or_insert_default get_or_insert_with get_or_try_insert_with get_program get_ref "
        "get_unchecked grow grow_zeroed guaranteed_eq guaranteed_ne has_data_left has_root hash "
        "hash_slice hasher index index_mut insert insert_mut insert_str inspect inspect_err "
        "intersection intersperse intersperse_with into into_boxed_bytes into_boxed_path "
        "into_boxed_slice into_boxed_str into_bytes into_chars into_err into_flat_iter into_flattened "
        "into_future into_inner into_iter into_keys into_non_null into_ok into_os_string into_parts "
        "into_pin into_raw into_ref into_string into_values into_vec is_absolute is_alphabetic "
        "is_alphanumeric is_ascii is_control is_digit is_dir is_empty is_err is_err_and is_file "
        "is_lowercase is_none is_none_or is_null is_numeric is_ok is_ok_and is_poisoned "
        "is_read_vectored is_relative is_some is_some_and is_sorted is_sorted_by is_terminal "
        "is_uppercase is_whitespace is_write_vectored is_zero iter iter_mut join keys last last_entry "
        "last_key_value last_mut leak len len_utf8 lines load local_addr lock log make_ascii_lowercase "
        "make_ascii_uppercase make_contiguous make_mut map map_addr map_err map_or map_or_default "
        "map_or_else map_while match_indices matches max max_by max_by_key merge min min_by min_by_key "
        "new new_cyclic new_zeroed new_zeroed_slice next next_back normalize_lexically notify_all "
        "notify_one now nth nth_back offset offset_from offset_from_unsigned ok_or ok_or_else open "
        "options or_else output pad pad_integral parent parse partial_cmp partial_cmp_by partition "
        "partition_in_place partition_point peek peek_mut peekable peer_addr pin poll poll_next pop "
        "pop_back pop_back_if pop_first pop_front pop_front_if pop_if pop_last position precision "
        "product ptr_eq push push_back push_back_mut push_front push_front_mut push_mut push_str "
        "push_within_capacity range read read_dir read_exact read_line read_link read_timeout "
        "read_to_end read_to_string read_until read_vectored read_volatile recv recv_deadline "
        "recv_timeout recycle reduce remove remove_entry remove_matches repeat replace replace_first "
        "replace_last replace_range replace_with replacen report reserve resize resize_with resume "
        "retain retain_mut rev reverse rewind rfind rfold rmatch_indices rmatches rposition rsplit "
        "rsplit_mut rsplit_once rsplit_terminator rsplitn rsplitn_mut sample saturating_add "
        "saturating_sub scan seek seek_read seek_relative seek_write select send set set_extension "
        "set_file_name set_len set_nonblocking set_read_timeout set_ttl set_write_timeout setsid "
        "shift_left shift_right show_window shrink shrink_to shrink_to_fit shutdown sign "
        "sign_aware_zero_pad sign_minus sign_plus size_hint skip skip_until skip_while sort sort_by "
        "sort_by_cached_key sort_by_key sort_floats sort_unstable sort_unstable_by source "
        "spare_capacity_mut spawn splice split split_ascii_whitespace split_at_checked split_at_mut "
        "split_at_mut_checked split_at_spare_mut split_first split_first_mut split_inclusive "
        "split_inclusive_mut split_last split_last_mut split_mut split_off split_off_first "
        "split_off_first_mut split_off_last split_off_last_mut split_off_mut split_once "
        "split_terminator split_whitespace splitn splitn_mut starts_with startupinfo_force_feedback "
        "startupinfo_fullscreen startupinfo_untrusted_source static_mut static_ref step_by "
        "steps_between store stream_len stream_position strip_circumfix strip_prefix strip_prefix_of "
        "strip_suffix strip_suffix_of sub_one subslice_range substr_range sum swap swap_remove "
        "swap_remove_back swap_remove_front swap_with_slice symmetric_difference sync_all sync_data "
        "take take_error take_if take_while thread to_be to_be_bytes to_digit to_le to_le_bytes "
        "to_lowercase to_ne_bytes to_owned to_str to_string to_uppercase to_vec transpose trim "
        "trim_ascii trim_ascii_end trim_ascii_start trim_end trim_end_matches trim_left "
        "trim_left_matches trim_matches trim_prefix trim_right trim_right_matches trim_start "
        "trim_start_matches trim_suffix ttl undo_leak union unlock unwrap unwrap_err unwrap_or "
        "unwrap_or_clone unwrap_or_default unwrap_or_else unzip update values values_mut wait "
        "wait_timeout wait_timeout_ms wait_timeout_while wait_while weak_count width windows "
        "with_added_extension with_addr with_capacity with_capacity_and_hasher with_exposed_provenance "
        "with_extension with_file_name with_hasher with_options without_provenance wrapping_add "
        "wrapping_sub write write_all write_all_vectored write_bytes write_char write_clone_of_slice "
        "write_copy_of_slice write_filled write_fmt write_i128 write_i16 write_i32 write_i64 write_i8 "
        "write_isize write_iter write_length_prefix write_str write_timeout write_u128 write_u16 "
        "write_u32 write_u64 write_u8 write_usize write_vectored write_volatile write_with xor zip "
        "zip_with "
    ).split()
)

#: methods of Ruby's objects, containers, strings, files and modules
RUBY = frozenset(
    (
        "abort abort_on_exception abs abs2 absolute_path absolute_path? add_trace_func advise "
        "alias_method alive? all? all_symbols allbits? allocate ancestors angle any? anybits? append "
        "arg arity ascii_only? asctime assoc at_exit atime attr attr_accessor attr_reader attr_writer "
        "autoclose? autoload autoload? backtrace backtrace_locations basename begin between? binding "
        "binmode binmode? binread binwrite birthtime bit_length block_given? blockdev? bsearch "
        "bsearch_index bytes bytesize byteslice call caller caller_locations capitalize capitalize! "
        "captures casecmp casecmp? casefold? catch cause ceil center chain chardev? chars chdir "
        "children chmod chomp chomp! chop chop! chown chr chroot chunk chunk_while clamp class "
        "class_eval class_exec class_variable_defined? class_variable_get class_variable_set "
        "class_variables clear clone close close_on_exec? close_read close_write closed? codepoints "
        "coerce collect collect! collect_concat combination compact compact! compare_by_identity "
        "compare_by_identity? compile concat conj conjugate const_defined? const_get const_missing "
        "const_set const_source_location constants copy_stream count cover? crypt ctime current curry "
        "cycle day deconstruct deconstruct_keys default default_proc define_method "
        "define_singleton_method delete delete! delete_at delete_if delete_prefix delete_prefix! "
        "delete_suffix delete_suffix! denominator deprecate_constant deq detect difference dig digits "
        "directory? dirname display div divmod downcase downcase! downto drop drop_while dst? dump "
        "dup each each_byte each_char each_child each_codepoint each_cons each_entry "
        "each_grapheme_cluster each_index each_key each_line each_pair each_slice each_value "
        "each_with_index each_with_object eager empty? encode encode! encoding end end_with? enq "
        "entries enum_for eof eof? eql? equal? escape eval even? except exception exclude_end? exec "
        "executable? executable_real? exist? exists? exit exit! expand_path extend external_encoding "
        "extname fail fcntl fdatasync fdiv feed fetch fetch_values file? fileno fill filter filter! "
        "filter_map find find_all find_index finite? first fixed_encoding? flat_map flatten flatten! "
        "flock floor flush fnmatch fnmatch? for_fd force force_encoding foreach fork format freeze "
        "friday? frozen? fsync ftype full_message gcd gcdlcm gem gem_original_require getbyte getc "
        "getgm getlocal gets getutc getwd glob global_variables gmt? gmt_offset gmtime gmtoff "
        "grapheme_clusters grep grep_v group group_by grpowned? gsub gsub! handle_interrupt has_key? "
        "has_value? hash hex home hour id2name identical? ignore_deadlock imag imaginary include "
        "include? included_modules index infinite? initialize initialize_clone initialize_copy "
        "initialize_dup inject insert inspect instance_eval instance_exec instance_method "
        "instance_methods instance_of? instance_variable_defined? instance_variable_get "
        "instance_variable_set instance_variables integer? intern internal_encoding intersect? "
        "intersection invert ioctl is_a? isatty isdst iterator? itself join keep_if key key? keys "
        "kill kind_of? lambda lambda? last last_match lazy lchmod lchown lcm length lineno lines link "
        "list ljust load local local_variables localtime lock locked? loop lstat lstrip lstrip! "
        "lutime magnitude main map map! marshal_dump match match? match_length max max_by mday "
        "member? members merge merge! message method method_defined? method_missing methods min "
        "min_by minmax minmax_by mkdir mkfifo mktime module_eval module_exec modulo mon monday? month "
        "mtime name named_captures names nan? native_thread_id negative? nesting new next next! "
        "next_float next_values nil? nobits? none? nonzero? now nsec num_waiting numerator object_id "
        "oct odd? offset one? open options ord original_name owned? owner pack parameters partition "
        "pass path peek peek_values pending_interrupt? permutation phase pid pipe pipe? polar pop "
        "popen pos positive? post_match pow pre_match pread pred prepend prev_float print printf "
        "priority private? private_class_method private_constant private_instance_methods "
        "private_method_defined? private_methods proc produce product protected? "
        "protected_instance_methods protected_method_defined? protected_methods public? "
        "public_class_method public_constant public_instance_method public_instance_methods "
        "public_method public_method_defined? public_methods public_send push putc puts pwd pwrite "
        "quo quote raise rand rassoc rationalize read read_nonblock readable? readable_real? readbyte "
        "readchar readline readlines readlink readpartial real real? realdirpath realpath receiver "
        "rect rectangular reduce regexp rehash reject reject! remainder remove_class_variable "
        "remove_instance_variable remove_method rename reopen repeated_combination "
        "repeated_permutation replace report_on_exception require require_relative respond_to? "
        "respond_to_missing? reverse reverse! reverse_each rewind rindex rjust rmdir rotate rotate! "
        "round rpartition rstrip rstrip! ruby2_keywords ruby2_keywords_hash ruby2_keywords_hash? run "
        "sample saturday? scan scrub scrub! sec seek select select! send set_backtrace set_encoding "
        "set_encoding_by_bom set_trace_func setbyte setgid? setuid? shift shuffle shuffle! "
        "singleton_class singleton_class? singleton_method singleton_method_added "
        "singleton_method_removed singleton_method_undefined singleton_methods size size? sleep slice "
        "slice! slice_after slice_before slice_when socket? sort sort! sort_by sort_by! source "
        "source_location spawn split sprintf sqrt squeeze squeeze! srand start start_with? stat "
        "status step sticky? stop stop? store strftime string strip strip! sub sub! subclasses subsec "
        "succ succ! sum sunday? super_method superclass swapcase swapcase! symlink symlink? sync "
        "synchronize syscall sysopen sysread sysseek system syswrite taint tainted? take take_while "
        "tally tap tell terminate test then thread_variable? thread_variable_get thread_variable_set "
        "thread_variables throw thursday? times to_a to_ary to_c to_enum to_f to_h to_hash to_i "
        "to_int to_io to_path to_proc to_r to_s to_str to_sym to_tty? tr! tr_s tr_s! trace_var "
        "transform_keys transform_keys! transform_values transform_values! transpose trap truncate "
        "trust try_convert try_lock tty? tuesday? tv_nsec tv_sec tv_usec umask unbind undef_method "
        "undump ungetbyte ungetc unicode_normalize unicode_normalize! unicode_normalized? union uniq "
        "uniq! unlink unlock unpack unpack1 unshift untaint untrace_var untrust untrusted? upcase "
        "upcase! update upto usec used_modules utc utc? utc_offset utime valid_encoding? value value? "
        "values values_at wakeup warn wday wednesday? with_index with_object world_readable? "
        "world_writable? writable? writable_real? write write_nonblock yday year yield yield_self "
        "zero? zip zone "
    ).split()
)

#: methods of the objects of JavaScript and Node.js: containers, strings, dates, emitters, streams,
#: sockets, HTTP requests and responses
SCRIPT = frozenset(
    (
        "addListener addTrailers address appendHeader assignSocket charCodeAt clearTimeout "
        "closeAllConnections closeIdleConnections codePointAt compare connect copyWithin cork "
        "createConnection deref destroy destroySoon detachSocket dispatchEvent drop endsWith eventNames "
        "findIndex findLast findLastIndex flushHeaders getConnections getDate getDay getFullYear "
        "getHeader getHeaderNames getHeaders getHours getMaxListeners getMilliseconds getMinutes "
        "getMonth getRawHeaderNames getSeconds getTime getTimezoneOffset getUTCDate getUTCDay "
        "getUTCFullYear getUTCHours getUTCMilliseconds getUTCMinutes getUTCMonth getUTCSeconds getYear "
        "hasHeader isPaused isPrototypeOf isWellFormed lastIndexOf listen listenerCount listeners "
        "localeCompare matchAll normalize padEnd padStart pause pipe prependListener "
        "prependOnceListener propertyIsEnumerable rawListeners reduceRight ref removeAllListeners "
        "removeHeader removeListener repeat replaceAll resetAndDestroy resize resume setDate "
        "setDefaultEncoding setEncoding setFullYear setHeader setHeaders setHours setKeepAlive "
        "setMaxListeners setMilliseconds setMinutes setMonth setNoDelay setSeconds setTime setTimeout "
        "setUTCDate setUTCFullYear setUTCHours setUTCMilliseconds setUTCMinutes setUTCMonth "
        "setUTCSeconds setYear shift startsWith subarray substr take throwIfAborted toArray "
        "toDateString toExponential toFixed toGMTString toISOString toJSON toLocaleDateString "
        "toLocaleLowerCase toLocaleString toLocaleTimeString toLocaleUpperCase toPrecision toReversed "
        "toSorted toSpliced toTimeString toUTCString toWellFormed trimEnd trimLeft trimRight trimStart "
        "uncork unpipe unref unshift writeContinue writeEarlyHints writeHead writeHeader "
        "writeProcessing "
    ).split()
)

#: language → names of its library besides COMMON: a call of one on an unknown receiver says nothing
#: about the project
OWN_NAMES = {
    "rust": RUST,
    "ruby": RUBY,
    **dict.fromkeys(("javascript", "typescript", "tsx"), SCRIPT),
}
