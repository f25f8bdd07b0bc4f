"""Names of methods in Python's standard library. A table only."""

from __future__ import annotations

#: containers, files, paths, patterns, dates, threads, tasks, processes and sockets
PYTHON_METHODS = frozenset(
    (
        "Etiny Etop abs absolute accept aclose add_child_handler add_done_callback add_reader "
        "add_signal_handler add_writer adjusted appendleft as_tuple as_uri asend astimezone "
        "at_eof athrow attach_loop buffer_info buffer_updated byteswap call_at "
        "call_exception_handler call_later call_soon call_soon_threadsafe callback can_write_eof "
        "cancelled cancelling canonical check_returncode check_unused_args chmod clear_flags "
        "clear_traps combine communicate compare compare_signal compare_total compare_total_mag "
        "connect connect_accepted_socket connect_ex connect_read_pipe connect_write_pipe "
        "connection_lost connection_made convert_field copy_abs copy_decimal copy_negate "
        "copy_sign create_connection create_datagram_endpoint create_decimal "
        "create_decimal_from_float create_future create_server create_task "
        "create_unix_connection create_unix_server ctime cwd data_received datagram_received "
        "date default_exception_handler detach divide divide_int divmod drain dst elements "
        "enter_async_context enter_context eof_received error_received exp expand expanduser "
        "expired extendleft feed_data feed_eof fileno finditer fma format_field from_float "
        "frombytes fromfile fromisocalendar fromisoformat fromlist fromordinal fromtimestamp "
        "fromunicode fromutc full fullmatch getName get_buffer get_child_watcher get_coro "
        "get_debug get_event_loop get_exception_handler get_extra_info get_field get_identifiers "
        "get_inheritable get_loop get_name get_nowait get_pid get_pipe_transport get_protocol "
        "get_returncode get_stack get_task_factory get_value get_write_buffer_limits "
        "get_write_buffer_size getaddrinfo getblocking getbuffer getnameinfo getpeername "
        "getsockname getsockopt getstate gettimeout glob groupdict groups hardlink_to home "
        "isDaemon isSet is_absolute is_active is_alive is_block_device is_canonical "
        "is_char_device is_closed is_closing is_dir is_fifo is_file is_finite is_infinite "
        "is_mount is_nan is_normal is_qnan is_reading is_relative_to is_reserved is_running "
        "is_serving is_set is_signed is_snan is_socket is_subnormal is_symlink is_valid is_zero "
        "isatty isocalendar isoformat isoweekday iterdir joinpath kill lchmod link_to listen "
        "locked log10 logb logical_and logical_invert logical_or logical_xor lstat makefile max "
        "max_mag min min_mag minus most_common move_to_end multiply new_child new_event_loop "
        "next_minus next_plus next_toward normalize notify notifyAll notify_all now number_class "
        "owner pause_reading pause_writing peek pipe_connection_lost pipe_data_received plus "
        "poll pop_all popleft power print_stack process_exited push_async_callback "
        "push_async_exit put_nowait qsize quantize radix read1 readable readall readexactly "
        "readinto readinto1 readlink readuntil reconfigure recv recv_into recvfrom recvfrom_into "
        "recvmsg recvmsg_into remainder remainder_near remove_child_handler remove_done_callback "
        "remove_reader remove_signal_handler remove_writer rename reschedule reset "
        "resume_reading resume_writing rglob rmdir rotate run_forever run_in_executor "
        "run_until_complete running safe_substitute same_quantum samefile scaleb scan scanner "
        "seekable send_signal sendall sendfile sendmsg sendmsg_afalg sendto serve_forever "
        "setDaemon setName set_child_watcher set_debug set_default_executor set_event_loop "
        "set_exception set_exception_handler set_inheritable set_name set_protocol "
        "set_running_or_notify_cancel set_task_factory set_transport set_write_buffer_limits "
        "setblocking setsockopt setstate settimeout shift shutdown shutdown_asyncgens "
        "shutdown_default_executor sock_accept sock_connect sock_recv sock_recv_into "
        "sock_recvfrom sock_recvfrom_into sock_sendall sock_sendfile sock_sendto span sqrt "
        "start_serving start_tls strftime strptime subn subprocess_exec subprocess_shell "
        "substitute subtract symlink_to terminate throw time timestamp timetuple timetz "
        "to_eng_string to_integral to_integral_exact to_integral_value to_sci_string tobytes "
        "today tofile tolist toordinal total total_seconds touch tounicode truncate tzname "
        "uncancel utcfromtimestamp utcnow utcoffset utctimetuple vformat wait_closed wait_for "
        "weekday when with_name with_stem with_suffix writable write_eof"
    ).split()
)

_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "lshift"}
_ARITHMETIC |= {"/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul", "**": "pow", ">>": "rshift"}
#: operator → the method that it calls; not comparisons and elements: most
#: are of library types
PYTHON_OPERATORS = {sign: f"__{name}__" for sign, name in _ARITHMETIC.items()}
PYTHON_OPERATORS |= {f"{sign}=": f"__i{name}__" for sign, name in _ARITHMETIC.items()}
#: an assignment's method → the one that is called if a type lacks it
FALLBACK_OPERATORS = {f"__i{name}__": f"__{name}__" for name in _ARITHMETIC.values()}
