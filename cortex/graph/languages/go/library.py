"""Names of methods in Go's standard library. A table only."""

from __future__ import annotations

#: buffers, containers, files, HTTP, patterns, locks and times
GO_METHODS = frozenset(
    (
        "Abs AddCookie AddDate After AppendFormat Available AvailableBuffer Back BasicAuth "
        "Before Broadcast Buffer Buffered Bytes CancelRequest Cap Chdir Chmod Chown Clock Clone "
        "CloseIdleConnections CloseNotify CloseWithError CombinedOutput CompareAndSwap Context "
        "Cookie Cookies Copy Date Day Deadline Decode Del Delete DirFS DisallowUnknownFields "
        "Discard Encode Environ Equal Err EscapedFragment EscapedPath ExitCode Exited Expand "
        "ExpandString Find FindAll FindAllIndex FindAllString FindAllStringIndex "
        "FindAllStringSubmatch FindAllStringSubmatchIndex FindAllSubmatch FindAllSubmatchIndex "
        "FindIndex FindReaderIndex FindReaderSubmatchIndex FindString FindStringIndex "
        "FindStringSubmatch FindStringSubmatchIndex FindSubmatch FindSubmatchIndex Float64 Flush "
        "FormFile FormValue Format Front Glob GoString GobDecode GobEncode Grow Handle "
        "HandleFunc Handler HandlerFunc Has Head Header Hijack Hostname Hour Hours ISOWeek Info "
        "Init InputOffset InsertAfter InsertBefore Int64 IsAbs IsDST IsDir IsRegular IsZero "
        "JoinPath Kill Link ListenAndServe ListenAndServeTLS Listener LiteralPrefix "
        "LoadAndDelete LoadOrStore Local Location Longest MarshalBinary MarshalJSON MarshalText "
        "Match MatchReader MatchString Microseconds Milliseconds Minute Minutes ModTime Mode "
        "Month More Move MoveAfter MoveBefore MoveToBack MoveToFront MultipartReader Name "
        "Nanosecond Nanoseconds Next NumSubexp Open Output Parse ParseForm ParseMultipartForm "
        "Password Peek Perm Pid Port Post PostForm PostFormValue Prev ProtoAtLeast Push PushBack "
        "PushBackList PushFront PushFrontList Put Query RLocker Range ReadAt ReadByte ReadBytes "
        "ReadDir ReadFile ReadFrom ReadLine ReadRune ReadSlice ReadString Readdir Readdirnames "
        "Redacted Referer RegisterOnShutdown RegisterProtocol Release Remove Replace ReplaceAll "
        "ReplaceAllFunc ReplaceAllLiteral ReplaceAllLiteralString ReplaceAllString "
        "ReplaceAllStringFunc RequestURI Reset ResolveReference Round RoundTrip Run Scan Search "
        "Second Seconds Seek Serve ServeHTTP ServeTLS SetBasicAuth SetCookies SetDeadline "
        "SetEscapeHTML SetIndent SetKeepAlivesEnabled SetReadDeadline SetWriteDeadline Shutdown "
        "Signal Size Sort Split Start Stat StderrPipe StdinPipe StdoutPipe Stop Sub SubexpIndex "
        "SubexpNames Success Sync Sys SysUsage SyscallConn SystemTime Temporary Text Timeout "
        "Token Truncate TryLock TryRLock Type UTC Unix UnixMicro UnixMilli UnixNano Unlink "
        "UnmarshalBinary UnmarshalJSON UnmarshalText UnreadByte UnreadRune Unwrap UseNumber "
        "UserAgent UserTime Username Valid Value Values Weekday WithContext WriteAt WriteByte "
        "WriteHeader WriteProxy WriteRune WriteString WriteSubset WriteTo Year YearDay Zone "
        "ZoneBounds"
    ).split()
)
