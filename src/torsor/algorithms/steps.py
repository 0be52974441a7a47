"""One step of a fixed-step integrator, over any scalar and on the manifold of configurations (MR §8.5).

q ⊕ w follows the constant velocity w for unit time.  Within a step, the motion is measured from its start: θ = q ⊖ q₀,
whose rate is v for plain coordinates and dexp⁻¹ v for rotations; in θ the textbook's formulas hold, to their full order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torsor.algorithms.field import Field
from torsor.errors import require_known
from torsor.scalar import Scalar, Scalars, repeatable

State = tuple[list[Scalar], list[Scalar]]
Step = Callable[[Field, Scalars, Scalars, Scalar | None, Scalar], State]


def explicit_euler(f: Field, q: Scalars, v: Scalars, t: Scalar | None, dt: Scalar) -> State:
    """q⁺ = q ⊕ v dt, v⁺ = v + a dt: explicit Euler (MR §8.5); first order, energy grows."""
    a = f.acceleration(q, v, t)
    return f.add(q, scale(v, dt)), plus(v, a, dt)


def semi_implicit_euler(f: Field, q: Scalars, v: Scalars, t: Scalar | None, dt: Scalar) -> State:
    """v⁺ = v + a dt, q⁺ = q ⊕ v⁺ dt: first order, but the energy stays near its initial value."""
    v = plus(v, f.acceleration(q, v, t), dt)
    return f.add(q, scale(v, dt)), v


def runge_kutta_4(f: Field, q: Scalars, v: Scalars, t: Scalar | None, dt: Scalar) -> State:
    """Runge–Kutta: four evaluations, fourth order."""
    half = dt / 2
    v1, a1 = list(v), f.acceleration(q, v, t)
    v2, a2 = _stage(f, q, v, v1, a1, time_after(t, half), half)
    v3, a3 = _stage(f, q, v, v2, a2, time_after(t, half), half)
    v4, a4 = _stage(f, q, v, v3, a3, time_after(t, dt), dt)
    sixth = dt / 6
    mean = [(x1 + 2 * (x2 + x3) + x4) * sixth for x1, x2, x3, x4 in zip(v1, v2, v3, v4, strict=True)]
    return f.add(q, mean), [x + (x1 + 2 * (x2 + x3) + x4) * sixth for x, x1, x2, x3, x4 in zip(v, a1, a2, a3, a4, strict=True)]


def _stage(f: Field, q: Scalars, v: Scalars, rate: Scalars, a: Scalars, t: Scalar | None, dt: Scalar) -> State:
    """The rates of θ and v at a fraction of the step."""
    there, fast = f.add(q, scale(rate, dt)), plus(v, a, dt)
    return f.difference_rate(q, there, fast), f.acceleration(there, fast, t)


@dataclass(frozen=True)
class Midpoint:
    """A method with one unknown, the mean velocity w of the step: q⁺ = q ⊕ w dt, the middle at q_m = q ⊕ w dt/2.

    ``improved(f, q, v, w, a, dt)`` is the next guess of w, from the acceleration a = a(q_m, w, t + dt/2); ``velocity``, of the
    same arguments, is v⁺.  Recorded, w is improved a fixed number of times: enough while dt |∂a/∂v| + dt² |∂a/∂q| is small.
    """

    improved: Callable[..., list[Scalar]]
    velocity: Callable[..., list[Scalar]]
    iterations: int = 10

    def __call__(self, f: Field, q: Scalars, v: Scalars, t: Scalar | None, dt: Scalar) -> State:
        def iteration(w: Scalars) -> list[Scalar]:
            a = f.acceleration(f.add(q, scale(w, dt / 2)), w, time_after(t, dt / 2))
            return [*self.improved(f, q, v, w, a, dt), *a]

        once, w, a = repeatable(iteration), list(v), []
        for _ in range(self.iterations):
            both = once(w)
            w, a = both[: len(w)], both[len(w) :]
        return f.add(q, scale(w, dt)), self.velocity(f, q, v, w, a, dt)


def _implicit_mean(f: Field, q: Scalars, v: Scalars, w: Scalars, a: Scalars, dt: Scalar) -> list[Scalar]:
    return plus(v, a, dt / 2)


def _implicit_velocity(f: Field, q: Scalars, v: Scalars, w: Scalars, a: Scalars, dt: Scalar) -> list[Scalar]:
    return [2 * m - x for m, x in zip(w, v, strict=True)]


def _variational_mean(f: Field, q: Scalars, v: Scalars, w: Scalars, a: Scalars, dt: Scalar) -> list[Scalar]:
    """M(q_m) w = Sᵀp + dt/2 J(x)ᵀṗ, with x = w dt/2, S = (J(x) + J(−x))/2 and J(x) = dexp of the joints' motions.

    Left-trivialised variations of Σ dt L(q_m, w) give (J(x) + J(−x))ᵀ p = 2 M w − dt J(x)ᵀ ṗ at the beginning of the step, and
    p⁺ − p = dt ṗ.  For plain coordinates J = 1.  Marsden & West 2001, §2; Bou-Rabee & Marsden 2009.
    """
    x, half = scale(w, dt / 2), dt / 2
    there = f.add(q, x)
    p, rate = f.momentum(q, v), f.momentum_rate(there, w, a)
    ahead, behind = f.pull_back(q, x, p), f.pull_back(q, scale(x, -1), p)
    force = f.pull_back(q, x, rate)
    return f.velocity(there, [(b + c) / 2 + r * half for b, c, r in zip(ahead, behind, force, strict=True)])


def _variational_velocity(f: Field, q: Scalars, v: Scalars, w: Scalars, a: Scalars, dt: Scalar) -> list[Scalar]:
    """p⁺ = p + dt ṗ, with ṗ = d/dt (M v) in the middle."""
    p, rate = f.momentum(q, v), f.momentum_rate(f.add(q, scale(w, dt / 2)), w, a)
    return f.velocity(f.add(q, scale(w, dt)), plus(p, rate, dt))


#: v⁺ = v + a(q_m, w) dt with w the mean of v and v⁺: second order, conserves quadratic invariants, very little drift
implicit_midpoint = Midpoint(_implicit_mean, _implicit_velocity)

#: the discrete Euler–Lagrange equations of the midpoint: second order, symplectic, so the energy of a conservative mechanism
#: stays within O(dt²) of its initial value for exponentially many steps
variational = Midpoint(_variational_mean, _variational_velocity)

#: step functions by method name
STEPS: dict[str, Step] = {
    "euler": explicit_euler,
    "semi_implicit": semi_implicit_euler,
    "rk4": runge_kutta_4,
    "midpoint": implicit_midpoint,
    "variational": variational,
}
#: order of convergence: the error of a run is O(dt^order)
ORDERS = {"euler": 1, "semi_implicit": 1, "rk4": 4, "midpoint": 2, "variational": 2}
#: evaluations of the acceleration per step of an explicit method
EVALUATIONS = {"euler": 1, "semi_implicit": 1, "rk4": 4}


def step_named(name: str) -> Step:
    """An entry of :data:`STEPS`; raises an error that lists the names."""
    require_known("fixed-step integrator", name, STEPS)
    return STEPS[name]


def take_step(integrator: str, f: Field, q: Scalars, v: Scalars, t: Scalar | None, dt: Scalar) -> State:
    """(q, v) a step later; an acceleration that is evaluated several times is recorded once."""
    several = EVALUATIONS.get(integrator, 1) > 1
    return step_named(integrator)(f.record_once() if several else f, q, v, t, dt)


def time_after(t: Scalar | None, dt: Scalar) -> Scalar | None:
    """t + dt; None if the field does not depend on time."""
    return None if t is None else t + dt


def scale(x: Scalars, k: Scalar) -> list[Scalar]:
    return [xi * k for xi in x]


def plus(x: Scalars, y: Scalars, k: Scalar) -> list[Scalar]:
    """x + y k."""
    return [xi + yi * k for xi, yi in zip(x, y, strict=True)]
