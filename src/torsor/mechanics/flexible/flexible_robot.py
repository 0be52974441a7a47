"""FlexibleRobot: a robot with flexible links (beams)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor import algorithms
from torsor.errors import SingularError, UnknownName, printable
from torsor.kernels import Kernels, Quantity, Table
from torsor.kernels.quantities import labels
from torsor.mechanics.flexible import link_equations as equations
from torsor.mechanics.flexible.assembly import FlexibleModel, flexible_model
from torsor.mechanics.flexible.energy import Energy
from torsor.mechanics.flexible.frequencies import frequencies, modes
from torsor.model.beams.beam import Beam
from torsor.model.refusals import refuse_symbols
from torsor.support.user_arrays import as_array

if TYPE_CHECKING:
    from torsor.kernels.compiled_mechanism import Wrenches
    from torsor.robot import Robot
    from torsor.simulate.flexible_links import FlexibleResult, Law

#: Newton steps towards equilibrium; from the straight beam a handful is enough
STEPS = 30


class Response(NamedTuple):
    """Joint forces τ (nv of the robot), and the accelerations η̈ of the modes."""

    tau: Any
    eta_acceleration: Any


class FlexibleRobot:
    """M(q) v̇ + h(q, v) + (0, K η + D η̇) = (τ, 0) + Jᵀf, with q = (joints, η), v = (joint velocities, η̇).

    The joints' coordinates come first, as the robot has them, then the modal coordinates η of each beam, in the order of the
    links.  ``(..., n)`` in, ``(..., n)`` out, as for a Robot.  F&O §2; Book 1984.

    Deflections are small: displacements across the beam are linear in η, and sections turn by the slopes (Cayley's rotation,
    right to second order).  Bending shortens the beam, to second order (``foreshortening``).  Elastic energy is quadratic,
    without shear, stretching, warping, or a coupling of bending and torsion in the section.  Within that kinematics no term
    is dropped: M, h and gravity come from the same slices by the same recursions, so energy is conserved.

    >>> import torsor as ts
    >>> from torsor.flexible import FlexibleRobot, beam
    >>> arm = FlexibleRobot.of(ts.robots.two_link(), {"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(2, 0, 0))})
    >>> arm.nq, arm.modes
    (4, ('link1/bend y1', 'link1/bend y2'))
    """

    def __init__(self, robot: Robot, beams: Mapping[str, Beam]):
        refuse_symbols(robot.model, "a flexible robot", "torsor.mechanics.flexible.link_equations takes them")
        self._robot, self._beams = robot, dict(beams)
        self._flexible = flexible_model(robot, self._beams)
        self._kernels = Kernels(robot.name, self._flexible, QUANTITIES, self._shapes())

    @classmethod
    def of(cls, robot: Robot, beams: Mapping[str, Beam]) -> FlexibleRobot:
        """The robot with beams for the links named.  A beam's mass takes the place of its link's own inertia.

        Joints, welded links and frames of such a link are attached to the nearest section along the beam.
        """
        return cls(robot, beams)

    # -- properties ------------------------------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The rigid robot."""
        return self._robot

    @property
    def beams(self) -> dict[str, Beam]:
        """The beams by link, in the order of their η."""
        return dict(self._flexible.beams)

    @property
    def flexible(self) -> FlexibleModel:
        """The argument of the functions in :mod:`torsor.mechanics.flexible.link_equations`, over any scalar."""
        return self._flexible

    @property
    def nq(self) -> int:
        """Configuration coordinates, those of the robot and η."""
        return self._flexible.model.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom, those of the robot and η̇."""
        return self._flexible.model.nv

    @property
    def modes(self) -> tuple[str, ...]:
        """A name for each η, ``"link/bend y1"``: bending along y, z, or torsion t."""
        return self._flexible.names

    @property
    def frames(self) -> tuple[str, ...]:
        """Every name a ``frame`` accepts: the robot's, and ``"link/tip"`` and the slices of each beam."""
        return tuple(self._flexible.model.frames)

    def join_coordinates(self, q: ArrayLike, eta: ArrayLike | None = None) -> np.ndarray:
        """(q, η) in one array; straight beams unless η is given.  Velocities too."""
        q = as_array("q", q, labels(self._robot.model)["q"], float)
        eta = np.zeros(len(self.modes)) if eta is None else as_array("eta", eta, self.modes, float)
        batch = np.broadcast_shapes(q.shape[:-1], eta.shape[:-1])
        return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, eta)], axis=-1)

    def neutral(self) -> np.ndarray:
        """The robot's zero configuration, with straight beams."""
        return self.join_coordinates(self._robot.neutral())

    def __repr__(self) -> str:
        return f"<FlexibleRobot {self._robot.name!r}: beams {printable(', '.join(self.beams))}, nq={self.nq}, nv={self.nv}>"

    def __reduce__(self) -> Any:
        return FlexibleRobot, (self._robot, self._beams)

    # -- dynamics --------------------------------------------------------------------------------------------

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """M(q), ``(nv, nv)``: joints and modes, coupled."""
        return self._kernels.run("mass_matrix", q)

    def bias_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """h(q, v) = c + g, ``(nv,)``, without the elastic forces."""
        return self._kernels.run("bias_force", q, v)

    def gravity_force(self, q: ArrayLike) -> np.ndarray:
        """g(q), ``(nv,)``."""
        return self._kernels.run("gravity_force", q)

    def elastic_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """(0, K η + D η̇), ``(nv,)``."""
        return self._kernels.run("elastic_force", q, v)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, *, expressed_in: str = "body"
    ) -> np.ndarray:
        """v̇ = (q̈, η̈), ``(nv,)``, of joint forces τ (``robot.nv``) and wrenches on frames."""
        return self._kernels.run("forward_dynamics", q, v, tau, wrenches=wrenches, expressed_in=expressed_in)

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *, expressed_in: str = "body"
    ) -> Response:
        """(τ, η̈) of joint accelerations a (``robot.nv``) in the elastic state (η, η̇) that q and v have."""
        return Response(*self._kernels.run("inverse_dynamics", q, v, a, wrenches=wrenches, expressed_in=expressed_in))

    def simulate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        duration: float,
        control: ArrayLike | Law | None = None,
        *,
        wrenches: Mapping[str, ArrayLike | Law] | None = None,
        dt: float | None = None,
    ) -> FlexibleResult:
        """The motion from (q, v) over ``duration`` [s]; options as for :func:`torsor.simulate.simulate_flexible`."""
        from torsor.simulate.flexible_links import simulate_flexible

        return simulate_flexible(self, q, v, duration, control, wrenches=wrenches, dt=dt)

    # -- energy ----------------------------------------------------------------------------------------------

    def energy(self, q: ArrayLike, v: ArrayLike) -> Energy:
        """Kinetic energy, potential energy of gravity, elastic energy of the beams [J]."""
        return Energy(*self._kernels.run("energy", q, v))

    def dissipation(self, q: ArrayLike, v: ArrayLike) -> Any:
        """Power dissipated by the beams' damping, η̇ᵀD η̇ [W]."""
        return self._kernels.run("dissipation", q, v)

    # -- kinematics ------------------------------------------------------------------------------------------

    def pose(self, q: ArrayLike, frame: str) -> np.ndarray:
        """T_world_frame, 4×4; ``"link/tip"`` is the end of a beam."""
        return self._kernels("pose", frame)(q)

    def jacobian(self, q: ArrayLike, frame: str, expressed_in: str = "world") -> np.ndarray:
        """J(q), 6×nv: (ω, v) of the frame = J v, as for a Robot."""
        return self._kernels("jacobian", frame, expressed_in)(q)

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0) -> np.ndarray:
        """q ⊕ v dt: joints on their manifold, modes by addition."""
        return self._kernels.run("integrate", q, v, dt)

    # -- small motions ---------------------------------------------------------------------------------------

    def stiffness(self, q: ArrayLike | None = None) -> np.ndarray:
        """∂(g + (0, K η))/∂(q, η), ``(nv, nv)``, at a configuration; without one, the constant elastic K alone."""
        if q is not None:
            return self._kernels.run("stiffness", q)
        K = np.zeros((self.nv, self.nv))
        for link, beam in self._flexible.beams:
            start = self._robot.nv + self._flexible.starts[link]
            K[start : start + beam.count, start : start + beam.count] = beam.stiffness
        return K

    def frequencies(self, q: ArrayLike, joints: str = "free") -> np.ndarray:
        """Angular frequencies [rad/s] of small undamped vibrations about q, ascending.

        ``joints``: ``"free"``, under constant forces, or ``"locked"``.  Motion without any restoring force has 0, motion
        that is unstable under gravity −√|λ|.  Where the beams sag, use the configuration ``equilibrium(q)``.
        """
        return frequencies(*self._mass_and_stiffness(q, joints))

    def vibrations(self, q: ArrayLike, joints: str = "free") -> tuple[np.ndarray, np.ndarray]:
        """The frequencies, and the vibrations as columns Φ with ΦᵀMΦ = 1, of (joints, η) or of η alone."""
        M, K = self._mass_and_stiffness(q, joints)
        return frequencies(M, K), modes(M, K)[1]

    def equilibrium(self, q: ArrayLike) -> np.ndarray:
        """q with the η at which the beams rest, joints held: g_η(q, η) + K η = 0, by Newton's method from the η given."""
        q = as_array("q", q, dtype=float).copy()
        n = self._robot.nv
        still = np.zeros(self.nv)
        for _ in range(STEPS):
            residual = (self.gravity_force(q) + self.elastic_force(q, still))[..., n:]
            step = np.linalg.solve(self.stiffness(q)[..., n:, n:], residual[..., None])[..., 0]
            q[..., self._robot.nq :] -= step
            if np.abs(step).max(initial=0) <= 1e-14 * (1 + np.abs(q[..., self._robot.nq :]).max(initial=0)):
                return q
        raise SingularError(
            f"the beams of {self._robot.name!r} have no static equilibrium near this q: "
            "they buckle, or deflections are too large for the model"
        )

    def _mass_and_stiffness(self, q: ArrayLike, joints: str) -> tuple[np.ndarray, np.ndarray]:
        if joints not in ("free", "locked"):
            raise UnknownName("joints=", joints, ("free", "locked"))
        n = self._robot.nv if joints == "locked" else 0
        return self.mass_matrix(q)[..., n:, n:], self.stiffness(q)[..., n:, n:]

    # -- kernels ---------------------------------------------------------------------------------------------

    @property
    def kernels(self) -> Kernels:
        """The compiled kernels behind the methods, by name."""
        return self._kernels

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = (self._robot.nv,)
        return {"q": (self.nq,), "v": (self.nv,), "a": n, "tau": n, "dt": ()}


# -- the table -----------------------------------------------------------------------------------------------


def _of_model(function: Callable[..., Any]) -> Callable[..., Any]:
    """An algorithm of a tree, for the tree of the slices."""

    def run(flexible: FlexibleModel, *values: Any, **words: Any) -> Any:
        return function(flexible.model, *values, **words)

    return run


def _energies(flexible: FlexibleModel, q: Any, v: Any) -> tuple[Any, Any, Any]:
    kinetic = algorithms.kinetic_energy(flexible.model, q, v)
    return kinetic, algorithms.potential_energy(flexible.model, q), equations.elastic_energy(flexible, q)


QUANTITIES = Table(
    "torsor.mechanics.flexible.flexible_robot:QUANTITIES",
    {
        "mass_matrix": Quantity(("q",), equations.mass_matrix),
        "bias_force": Quantity(("q", "v"), _of_model(algorithms.bias_force)),
        "gravity_force": Quantity(("q",), _of_model(algorithms.gravity_force)),
        "elastic_force": Quantity(("q", "v"), equations.elastic_force),
        "forward_dynamics": Quantity(("q", "v", "tau"), equations.forward_dynamics),
        "inverse_dynamics": Quantity(("q", "v", "a"), equations.inverse_dynamics, (), Response._fields),
        "energy": Quantity(("q", "v"), _energies, (), Energy._fields),
        "dissipation": Quantity(("q", "v"), equations.dissipation),
        "stiffness": Quantity(("q",), equations.stiffness),
        "integrate": Quantity(("q", "v", "dt"), equations.integrate),
        "pose": Quantity(("q",), _of_model(algorithms.pose), ("frame",)),
        "jacobian": Quantity(("q",), _of_model(algorithms.jacobian), ("frame", "expressed_in")),
    },
    title="flexible",
)
