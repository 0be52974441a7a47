"""Certificates: a model's dynamics computed by independent methods on this machine, and compared."""

from torsor.checks.certify.certificate import Certificate, CertificateRow
from torsor.checks.certify.verify import verify

__all__ = ["Certificate", "CertificateRow", "verify"]
