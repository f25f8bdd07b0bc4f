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
