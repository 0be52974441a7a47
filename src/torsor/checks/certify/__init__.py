"""Certificates: a model's dynamics computed in ways that share nothing, on this machine, and held against each other."""

from torsor.checks.certify.certificate import Certificate, CertificateRow
from torsor.checks.certify.verify import verify

__all__ = ["Certificate", "CertificateRow", "verify"]
