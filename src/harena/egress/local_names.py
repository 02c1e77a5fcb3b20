"""The addresses in 127.0.0.0/8 that stand for names inside one sandbox."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

FIRST = int(ipaddress.IPv4Address("127.64.0.1"))
MOST_NAMES = 4096
"""names of one sandbox that have an address; of more, the one that was used last longest ago loses its own"""


class LocalNames:
    """Gives each name an address, and finds the name of an address."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._addresses: OrderedDict[str, int] = OrderedDict()
        self._names: dict[int, str] = {}

    def address_of(self, name: str) -> str:
        """The address that stands for a name from now on."""
        number = self._addresses.get(name)
        if number is None:
            if len(self._addresses) < self._most:
                number = FIRST + len(self._addresses)
            else:
                number = self._addresses.popitem(last=False)[1]
            self._addresses[name] = number
            self._names[number] = name
        self._addresses.move_to_end(name)
        return str(ipaddress.IPv4Address(number))

    def name_of(self, address: str) -> str | None:
        """The name that an address stands for; None where it stands for none."""
        name = self._names.get(int(ipaddress.IPv4Address(address)))
        if name is not None:
            self._addresses.move_to_end(name)
        return name
