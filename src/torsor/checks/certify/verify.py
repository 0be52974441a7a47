"""The table of checks, and running it: a robot in, a certificate out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from torsor.checks.certify import differences, loops, losses, mujoco, pinocchio, references, relations
from torsor.checks.certify.certificate import FAIL, PASS, SKIPPED, Certificate, CertificateRow
from torsor.checks.certify.comparison import Comparison, Skip, worst
from torsor.checks.certify.machine import digest, machine
from torsor.checks.certify.subject import Samples
from torsor.errors import SingularError
from torsor.kernels.quantities import QUANTITIES
from torsor.model.terms.term import Term

if TYPE_CHECKING:
    from torsor.robot import Robot


class Check(NamedTuple):
    """One row of the table.  ``function(subject)`` compares, or raises Skip with the reason why it cannot."""

    name: str
    equation: str
    function: Callable[[Samples], Comparison]


#: quantities whose kernels are always compared with 50-digit arithmetic; ``thorough`` compares all of them
MAIN_QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "gravity_force",
    "kinetic_energy",
    "potential_energy",
    "jacobian",
)

CHECKS = (
    Check("one state = batch", "τ, to the last bit", references.same_bits),
    Check("RNEA = CRBA", "τ = M a + h", relations.rnea_crba),
    Check("RNEA = ABA", "a = FD(q, v, ID(q, v, a))", relations.rnea_aba),
    Check("RNEA = Lagrange", "τ = d/dt ∂L/∂ẋ − ∂L/∂x", relations.rnea_lagrange),
    Check("RNEA = Coriolis", "h = C v + g", relations.coriolis),
    Check("RNEA = Jacobian", "τ(f) = τ − Jᵀf", relations.wrenches),
    Check("ABA = divide and conquer", "a, O(log N) by pairs", relations.divide_and_conquer),
    Check("ABA = odd-even reduction", "a, O(log N) by F&O 28", relations.odd_even),
    Check("ABA = sparse elimination", "a by F&O 27", relations.sparse_elimination),
    Check("positive energy", "M = Mᵀ, vᵀM v > 0", relations.positive_definite),
    Check("energy", "K = ½ vᵀM v", relations.kinetic),
    Check("power", "τᵀv = dK/dt + dP/dt", relations.power),
    Check("gravity by differences", "g = ∂P/∂q", differences.gravity),
    Check("Jacobian by differences", "J = ∂T/∂q", differences.jacobian),
    Check("Ṁ by differences", "dM/dt = C + Cᵀ", differences.mass_matrix_rate),
)

DAMPING = (Check("damping", "τ(damping) = τ + D v", losses.damping),)
FRICTION = (Check("friction", "τ + τ_fric(v), τ_fricᵀv ≥ 0", losses.friction),)
LOOPS = (
    Check("loops: Jacobian", "A = ∂φ/∂q", loops.jacobian),
    Check("loops: drift", "Ȧv = dA/dt v", loops.drift),
    Check("loops: closed", "A a + Ȧv = 0", loops.loops_stay_closed),
    Check("loops: balance", "M a + h = τ + Aᵀλ", loops.balance),
    Check("loops: ideal", "λᵀA v = 0", loops.no_constraint_power),
    Check("loops: power", "τᵀv = dK/dt + dP/dt", loops.power),
    Check("loops: methods", "a by F&O 20 = 21 = 22", loops.methods),
)

PEERS = (
    Check("Pinocchio: rnea", "τ", pinocchio.inverse_dynamics),
    Check("Pinocchio: crba", "M", pinocchio.mass_matrix),
    Check("Pinocchio: aba", "a", pinocchio.forward_dynamics),
    Check("MuJoCo: inverse dynamics", "τ = M a + qfrc_bias", mujoco.inverse_dynamics),
    Check("MuJoCo: mass matrix", "M", mujoco.mass_matrix),
    Check("MuJoCo: mj_forward", "a", mujoco.forward_dynamics),
)


def verify(robot: Robot, samples: int = 16, seed: int = 0, *, thorough: bool = False, peers: bool = True) -> Certificate:
    """Cross-check the robot's dynamics on this machine: compute them by different methods and compare the results.

    The methods share the model and parts of the code: RNEA and ABA use the same spatial algebra, for example, while Lagrange
    and 50 digits do not.

    ``samples`` random states from ``seed``.  Kernels are compared with 50 digits in two of them; ``thorough`` does this in
    all of them, for every quantity.  ``peers`` adds Pinocchio and MuJoCo, if installed.

    >>> import torsor as ts
    >>> verify(ts.robots.two_link(), samples=4, peers=False).passed
    True
    """
    subject = Samples(robot, samples, seed, thorough)
    rows = tuple(row(check, subject) for check in checks(subject, peers))
    options = {"samples": samples, "seed": seed, "thorough": thorough, "peers": peers}
    return Certificate(robot.name, digest(robot.model), rows, options, machine())


def checks(subject: Samples, peers: bool = True) -> tuple[Check, ...]:
    """The checks that apply to a robot."""
    model, loops = subject.model, bool(subject.robot.loops)
    every = tuple(name for name, row in QUANTITIES.items() if not row.outputs)  # a step is made of quantities that are checked
    names = every if subject.thorough else MAIN_QUANTITIES
    digits = tuple(
        Check(f"kernel: {name}", "machine code = 50 digits", partial(references.fifty_digits, name)) for name in names
    )
    pushing = tuple(term for term in subject.given.model.terms if type(term).force is not Term.force)
    terms = tuple(
        Check(f"term: {term.name}", "fᵀv = P − dE/dt − heat", partial(losses.power_of_term, term.name)) for term in pushing
    )
    optional = (
        (DAMPING, any(map(any, model.damping))),
        (FRICTION, subject.rubbing.model.joints_with_friction),
        (terms, terms),
        (LOOPS, loops),
        (PEERS, peers),
    )
    return digits + CHECKS + tuple(check for part, applies in optional if applies for check in part)


def row(check: Check, subject: Samples) -> CertificateRow:
    """Make a check.  An exception is a failure, with its message; where a joint moves no mass, forward dynamics is skipped."""
    start = perf_counter()
    numbers: tuple[float | None, float | None, str] = None, None, ""
    try:
        comparison = check.function(subject)
        found = worst(comparison)
        verdict, numbers, reason = (PASS if found.ok else FAIL), found, comparison.note
    except (Skip, SingularError) as error:
        verdict, reason = SKIPPED, str(error)
    except Exception as error:
        verdict, reason = FAIL, f"{type(error).__name__}: {error}"
    return CertificateRow(check.name, check.equation, verdict, *numbers, perf_counter() - start, reason)
