"""Procedures that a client calls by their names, in place of paths."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Procedures:
    """`routers` are calls with an object of procedures and routers, and `merges` those of routers;
    `kinds` are the last calls of a procedure, with the method of each, and `begins` is in the name
    before them. `served` names a router that is served. `makers` make a client, `callers` one whose
    members are called themselves, and `same` are calls of a client that return another; `calls` are
    the last links of a request, with its method. `holds` is text of each file with any of these.
    """

    routers: tuple[str, ...]
    merges: tuple[str, ...]
    kinds: Mapping[str, str]
    begins: str
    served: str
    makers: tuple[str, ...]
    callers: tuple[str, ...]
    same: tuple[str, ...]
    calls: Mapping[str, str]
    holds: tuple[bytes, ...]


_QUERIES = (
    "useQuery useSuspenseQuery useInfiniteQuery usePrefetchQuery query fetch prefetch ensureData queryOptions"
)
_MUTATIONS = "useMutation mutate mutateAsync mutationOptions"
TRPC = Procedures(
    routers=("router", "createTRPCRouter"),
    merges=("mergeRouters",),
    kinds={"query": "GET", "mutation": "POST", "subscription": "GET"},
    begins="rocedure",
    served=r"\btype\s+\w+\s*=\s*typeof\s+(\w+)",
    makers=("createTRPCReact", "createTRPCNext", "createTRPCClient", "createTRPCProxyClient"),
    callers=("createCaller",),
    same=("useUtils", "useContext"),
    calls={
        **dict.fromkeys(_QUERIES.split(), "GET"),
        **dict.fromkeys(_MUTATIONS.split(), "POST"),
        "useSubscription": "GET",
        "subscribe": "GET",
    },
    holds=(
        b"outer({",
        b"mergeRouters(",
        b"rocedure",
        b".useQuery",
        b".useMutation",
        b"createTRPC",
        b"createCaller",
        b".query(",
    ),
)
