"""Names of methods in the library of scripts. A table only."""

from __future__ import annotations

#: sockets, HTTP requests and responses
SCRIPT_METHODS = frozenset(
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
