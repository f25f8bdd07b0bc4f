"""Which requests are meant for a server of ours: what their Host and Origin say. No tokens.

A page of the web reaches every port of this machine, and can have a name of its own lead here (DNS
rebinding); it can change neither of the two headers.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

#: addresses that stand for every one of the machine
ANY = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


@dataclass(frozen=True, slots=True)
class OriginCheck:
    """`host`: what the server listens on; `names`: how else it is reached; `scheme`: its own."""

    host: str
    names: tuple[str, ...] = ()
    scheme: str = "http"

    def refusal(self, hosts: Sequence[str], origins: Sequence[str]) -> str:
        """One sentence about a request that is not let in, from all of its Host and Origin headers;
        "" for one that is.
        """
        if len(hosts) != 1 or not self.is_ours(hosts[0]):
            return "The Host of the request is not this server."
        if any(origin.lower() != f"{self.scheme}://{hosts[0].lower()}" for origin in origins):
            return "Requests of web pages are not answered."
        return ""

    def is_ours(self, host: str) -> bool:
        """Names of this machine, and addresses: a name of somebody else's may lead here, too, an
        address is what it says.
        """
        name = host.lower()
        name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        if name in ("localhost", self.host.lower(), *(alias.lower() for alias in self.names)):
            return bool(name)
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return self.host in ANY and name == socket.gethostname().lower()
        return self.host in ANY or address.is_loopback
