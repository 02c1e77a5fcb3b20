"""TLS of a server: a certificate and its key out of files, read again when they are renewed, and who is greeting.

A connection counts as a connection when TLS is agreed upon. Before that its client has shown nothing, so these have a
bound of their own: beyond it, of whoever has most, the one that began longest ago ends.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections import OrderedDict
from pathlib import Path
from urllib.parse import urlsplit

from harena.core.errors import ValidationError

MOST_GREETING = 1024
"""most connections of a server on which TLS is being agreed upon"""
PROTOCOLS = ["http/1.1"]


class Certificate:
    """A certificate with its chain and its private key, as PEM files, and the context that shows it."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Raises ValidationError for files that cannot be read, or do not belong together."""
        self._certificate, self._key = certificate, key
        self.context = self._loaded()

    def renew(self) -> None:
        """Read the files again, for connections that begin from now on. Raises ValidationError, and shows the
        certificate that it has shown until now."""
        self._loaded()  # OpenSSL would keep half of a pair that does not belong together
        self.context.load_cert_chain(self._certificate, self._key)

    def believed_at(self, url: str) -> str:
        """The address under a name that the certificate is made for: its own host where that is one, else the first
        name, at the same port; as it is where the certificate names none."""
        from cryptography import x509

        try:
            shown = x509.load_pem_x509_certificate(self._certificate.read_bytes())
            names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (OSError, ValueError, x509.ExtensionNotFound):
            return url
        where = urlsplit(url)
        words = [name for name in names.get_values_for_type(x509.DNSName) if "*" not in name]
        hosts = {*words, *map(str, names.get_values_for_type(x509.IPAddress))}
        return url if where.hostname in hosts or not words else f"{where.scheme}://{words[0]}:{where.port}"

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.set_alpn_protocols(PROTOCOLS)
        for option, file in (("--tls-certificate", self._certificate), ("--tls-key", self._key)):
            try:
                file.read_bytes()
            except OSError as error:
                raise ValidationError(f"{option} {file} cannot be read: {error.strerror or error}") from error
        try:
            # without a password OpenSSL would ask at the terminal, and wait
            context.load_cert_chain(self._certificate, self._key, password=lambda: "")
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or str(error) or "no PEM"
            raise ValidationError(
                f"--tls-certificate {self._certificate} and --tls-key {self._key} cannot be used ({reason}): give the "
                "server's certificate followed by its chain, and the private key that belongs to it, both as PEM and "
                "the key without a password"
            ) from error
        return context


class Greetings:
    """Connections of one server on which TLS is being agreed upon, by the address that began them. Used from one event
    loop."""

    def __init__(self, most: int = MOST_GREETING) -> None:
        self._most = most
        self._owner_of: dict[int, str] = {}
        """descriptor -> whose connection it is"""
        self._open: dict[str, OrderedDict[int, socket.socket]] = {}
        """owner -> descriptor -> its socket, the one that began longest ago first"""

    def __len__(self) -> int:
        return len(self._owner_of)

    def begun(self, accepted: socket.socket, owner: str) -> None:
        """A connection of this owner, an address, was accepted. Where there are too many, the oldest one of whoever has
        most ends, as if its client had gone: who fills the room loses what is theirs."""
        number = accepted.fileno()
        self.ended(number)  # it was another connection's, which has ended
        self._owner_of[number] = owner
        self._open.setdefault(owner, OrderedDict())[number] = accepted
        while len(self) > self._most:
            of_most = max(self._open.values(), key=len)
            number, oldest = next(iter(of_most.items()))
            self.ended(number)
            with contextlib.suppress(OSError):  # it has ended by itself
                oldest.shutdown(socket.SHUT_RDWR)

    def ended(self, number: int) -> None:
        """TLS is agreed upon on the connection with this descriptor."""
        if (owner := self._owner_of.pop(number, None)) is not None:
            del self._open[owner][number]
            if not self._open[owner]:
                del self._open[owner]
