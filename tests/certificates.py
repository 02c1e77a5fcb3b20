"""Certificates for tests: an authority of their own, and what it signs, as files."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_DAY = timedelta(days=1)


@dataclass
class Pair:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


class Authority:
    """One authority, whose own certificate is the file `file`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "an authority of tests")])
        made = self._builder(self._name, self._key).add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        self.file = folder / "authority.pem"
        self.file.write_bytes(_pem(made.sign(self._key, hashes.SHA256())))

    def sign(self, stem: str) -> Pair:
        """A fresh certificate for localhost and 127.0.0.1, written to the files of this stem."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        )
        name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
        made = self._builder(name, key).add_extension(names, False).sign(self._key, hashes.SHA256())
        pair = Pair(self._folder / f"{stem}.pem", self._folder / f"{stem}.key")
        pair.certificate.write_bytes(_pem(made))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        made = x509.CertificateBuilder().subject_name(name).issuer_name(self._name).public_key(key.public_key())
        return made.serial_number(x509.random_serial_number()).not_valid_before(now - _DAY).not_valid_after(now + _DAY)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
