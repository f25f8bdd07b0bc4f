"""Check of a request's Host and Origin headers against attacks by web pages.

A web page reaches every port of this machine, and can point its own name here (DNS rebinding), but
it can change neither header. Tokens are checked elsewhere.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass

#: addresses that mean all addresses of the machine
ANY = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


#: a Host: an address of IPv6 in brackets, or a name, and a port
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:,@/\[\]]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class OriginCheck:
    """`host`: the server's address; `names`: further ones; `scheme`: http or https for clients."""

    host: str
    names: tuple[str, ...] = ()
    scheme: str = "http"

    def refusal(self, hosts: Sequence[str], origins: Sequence[str]) -> str:
        """Return why a request is refused, or ""; `hosts`, `origins`: all values of the headers."""
        if len(hosts) != 1 or not self.is_ours(hosts[0]):
            return "The Host of the request is not this server."
        if any(origin.lower() != f"{self.scheme}://{hosts[0].lower()}" for origin in origins):
            return "Requests of web pages are not answered."
        return ""

    def is_ours(self, host: str) -> bool:
        """Whether a Host is a name of this machine or an address. A foreign name may point here, an
        address may not.
        """
        parsed = _HOST.fullmatch(host.lower())
        if parsed is None:
            return False
        name = parsed[1] or parsed[2]
        if name in ("localhost", self.host.lower(), *(alias.lower() for alias in self.names)):
            return bool(name)
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return self.host in ANY and name == socket.gethostname().lower()
        return self.host in ANY or address.is_loopback
