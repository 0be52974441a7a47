"""Robot: a description, its model and its compiled kernels; the methods users call, each a few lines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from torsor import quantities as table
from torsor.compile import Kernel, Program
from torsor.errors import ArgumentError, UnknownName
from torsor.method import kernel_method
from torsor.model import Description, Model, assemble, surgery
from torsor.model.description import FLOATING_BASE
from torsor.printing import tree
from torsor.recording import make_kernel
from torsor.views import FrameView, JointView, LinkView

FLOAT64 = np.dtype(np.float64)
Array: TypeAlias = np.ndarray
Wrenches: TypeAlias = Mapping[str, ArrayLike]


class Robot:
    """A robot: immutable, picklable, safe in threads.  Every method takes one state or a batch, ``(..., n)``.

    ``q`` configuration (``nq``), ``v`` velocity, ``a`` acceleration, ``tau`` joint force (``nv``); SI units.  ``out=`` takes an
    array for the result where a caller wants no allocation.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link()
    >>> robot.gravity_force([0.0, 0.0]).round(2)
    array([29.43,  9.81])
    """

    def __init__(self, description: Description):
        self._description = description
        self._model = assemble(description)
        self._kernels: dict[tuple, Kernel] = {}
        self._entries: dict[tuple[str, ...], Callable[..., Any]] = {}
        self._lock = threading.RLock()

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def description(self) -> Description:
        """Links and joints as described, in file order."""
        return self._description

    @property
    def model(self) -> Model:
        """The numbered tree the algorithms run on."""
        return self._model

    @property
    def name(self) -> str:
        return self._description.name

    @property
    def nq(self) -> int:
        """Number of configuration coordinates."""
        return self._model.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return self._model.nv

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that move, coupled (mimic) ones among them, in the order of ``q`` and ``v``."""
        return self._model.joint_names[1:]

    @property
    def links(self) -> tuple[str, ...]:
        return tuple(link.name for link in self._description.links)

    @property
    def frames(self) -> tuple[str, ...]:
        """Every name a ``frame`` argument accepts: the world, the links and the named frames."""
        return tuple(self._model.frames)

    @property
    def gravity(self) -> Array:
        """[m/s²], in the world."""
        return np.array([float(g) for g in self._model.gravity])

    @property
    def report(self) -> tuple[str, ...]:
        """What was changed or ignored while loading, a line each."""
        return self._description.report

    @cached_property
    def mass(self) -> float:
        """Total mass of all links [kg]."""
        return float(sum(link.inertia.m for link in self._description.links))

    def joint(self, name: str) -> JointView:
        """One joint: ``.type .q_slice .v_slice .lower .upper .velocity_limit .effort_limit .damping .friction .armature``."""
        if name not in self.joints:
            fixed = {j.name for j in self._description.joints} - set(self.joints)
            raise UnknownName("moving joint" if name not in fixed else "moving joint (it is fixed)", name, self.joints)
        return JointView.of(self, name)

    def link(self, name: str) -> LinkView:
        """One link: ``.mass .com .inertia .parent_joint .geometry``."""
        if name not in self.links:
            raise UnknownName("link", name, self.links)
        return LinkView.of(self, name)

    def frame(self, name: str) -> FrameView:
        """One frame: ``.link .pose_in_body``."""
        self._model.frame(name)
        return FrameView.of(self, name)

    # -- dynamics --------------------------------------------------------------------------------------------

    @kernel_method
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        damping: bool = False,
        base_velocity: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """τ = M(q) a + h(q, v) − Jᵀf, the joint forces of a motion (RNEA; MR 8.50–8.54, F&O 3–8).

        ``wrenches={"frame": F}`` act on the robot, at and in that frame, F = (moment, force).  ``damping`` adds the model's
        viscous joint friction.  ``base_velocity`` and ``base_acceleration`` are the twist of a base that is carried along, and
        its rate, in the base's axes.
        """
        extra = {k: x for k, x in (("base_velocity", base_velocity), ("base_acceleration", base_acceleration)) if x is not None}
        return self._run("inverse_dynamics", (q, v, a), wrenches=wrenches, extra=extra, damping=damping, out=out)

    @kernel_method
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        damping: bool = False,
        out: Array | None = None,
    ) -> Array:
        """a = M(q)⁻¹ (τ − h(q, v) + Jᵀf), the acceleration under joint forces (ABA; F&O 11–14, MR 8.81).

        ``wrenches`` and ``damping`` as for :meth:`inverse_dynamics`.
        """
        return self._run("forward_dynamics", (q, v, tau), wrenches=wrenches, damping=damping, out=out)

    @kernel_method
    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q), ``(nv, nv)``, symmetric to the bit (CRBA; F&O 9–10, MR 8.57)."""
        return self._run("mass_matrix", (q,), out=out)

    @kernel_method
    def mass_matrix_inverse(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q)⁻¹ directly, without forming M (articulated bodies under unit forces)."""
        return self._run("mass_matrix_inverse", (q,), out=out)

    @kernel_method
    def bias_force(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """h(q, v) = c(q, v) + g(q) (MR 8.1, Exercise 8.11)."""
        return self._run("bias_force", (q, v), out=out)

    @kernel_method
    def gravity_force(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """g(q), the joint forces that hold the robot still (MR 8.10)."""
        return self._run("gravity_force", (q,), out=out)

    @kernel_method
    def velocity_force(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """c(q, v), the Coriolis and centripetal forces (MR 8.10)."""
        return self._run("velocity_force", (q, v), out=out)

    @kernel_method
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """C(q, v), with C v = c and Ṁ − 2C skew (MR 8.19, Prop. 8.1)."""
        return self._run("coriolis_matrix", (q, v), out=out)

    @kernel_method
    def christoffel_symbols(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Γ(q), ``(nv, nv, nv)``, with C_ij = Σ_k Γ_ijk v_k (MR 8.17)."""
        return self._run("christoffel_symbols", (q,), out=out)

    @kernel_method
    def mass_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Ṁ(q, v) = dM/dt along the motion."""
        return self._run("mass_matrix_rate", (q, v), out=out)

    @kernel_method
    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Any:
        """½ vᵀ M v [J] (MR 8.55)."""
        return self._run("kinetic_energy", (q, v), out=out)

    @kernel_method
    def potential_energy(self, q: ArrayLike, *, out: Array | None = None) -> Any:
        """−Σ m gᵀc of all that moves [J]."""
        return self._run("potential_energy", (q,), out=out)

    @kernel_method
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """(angular, linear) momentum of all that moves, in the world, about its origin (MR 8.34)."""
        return self._run("momentum", (q, v), out=out)

    # -- kinematics ------------------------------------------------------------------------------------------

    @kernel_method
    def center_of_mass(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Centre of mass of all that moves [m], in the world; a fixed base is left out."""
        return self._run("center_of_mass", (q,), out=out)

    def pose(self, q: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
        """T_world_frame, 4×4."""
        return self._at_frame(("pose", frame), (q,), out)

    def jacobian(self, q: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None) -> Array:
        """J(q), 6×nv: (ω, v) of the frame = J v.

        ``expressed_in``: ``"world"`` (world axes, at the frame's origin), ``"body"`` or ``"space"`` (MR's two Jacobians).
        """
        return self._at_frame(("jacobian", frame, expressed_in), (q,), out)

    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None
    ) -> Array:
        """J̇(q, v) = dJ/dt, 6×nv, expressed as J is."""
        return self._at_frame(("jacobian_rate", frame, expressed_in), (q, v), out)

    def twist(self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None) -> Array:
        """(ω, v) of a frame: J v."""
        return self._at_frame(("twist", frame, expressed_in), (q, v), out)

    def acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None
    ) -> Array:
        """The rate of :meth:`twist`, J a + J̇ v: classical (ω̇, p̈) in ``"world"``, spatial in ``"body"`` and ``"space"``."""
        return self._at_frame(("acceleration", frame, expressed_in), (q, v, a), out)

    # -- configurations --------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """The zero configuration: zero coordinates, identity rotations."""
        return np.array([x for i in self._own_joints() for x in self._model.joint[i].neutral()], dtype=np.float64)

    def random_configuration(self, rng: np.random.Generator | int | None = None) -> Array:
        """Uniform within the joint limits; where there are none, within a turn, and uniform over rotations."""
        generator = np.random.default_rng(rng)
        joints = {j.name: j for j in self._description.joints}
        q: list[float] = []
        for i in self._own_joints():
            kind, name = self._model.joint[i], self._model.joint_names[i]
            j = joints.get(name)
            lower = j.lower if j and j.lower else (-np.inf,) * kind.nq
            upper = j.upper if j and j.upper else (np.inf,) * kind.nq
            q += kind.random(generator, lower, upper)
        return np.array(q, dtype=np.float64)

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0, *, out: Array | None = None) -> Array:
        """q ⊕ v dt: where the constant velocity v leads in time dt, on the manifold (quaternions stay unit)."""
        return self._run("integrate", (q, v, dt), out=out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """q1 ⊖ q0, ``(nv,)``: the constant velocity that leads from q0 to q1 in unit time."""
        return self._run("difference", (q0, q1), out=out)

    # -- kernels ---------------------------------------------------------------------------------------------

    def kernel(self, *specs: str, dtype: Any = np.float64) -> Kernel:
        """Several results in one kernel that shares their common work; called with the state variables they need.

        A spec is a method's name, with its words after colons: ``"mass_matrix"``, ``"pose:tool0"``, ``"jacobian:tool0:body"``.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> M, g = robot.kernel("mass_matrix", "gravity_force")([0.0, 0.5])
        """
        if not specs:
            raise ArgumentError(f"name what the kernel computes, one or more of: {', '.join(table.QUANTITIES)}")
        return self._kernel(specs, np.dtype(dtype))

    def program(self, *specs: str) -> Program:
        """The recorded program of a kernel: operations, counts, code."""
        return self.kernel(*specs).program

    def _kernel(
        self,
        specs: tuple[str, ...],
        dtype: np.dtype = FLOAT64,
        frames: tuple[str, ...] = (),
        extra: tuple[str, ...] = (),
        damping: bool = False,
    ) -> Kernel:
        key = (specs, dtype, frames, extra, damping)
        kernel = self._kernels.get(key)
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(key) or self._kernels.setdefault(key, make_kernel(self._model, *key))
        return kernel

    def _run(self, name: str, values: tuple, *, wrenches: Wrenches | None = None, extra=None, damping=False, out=None) -> Any:
        if wrenches is None and not extra and not damping:
            return self._kernel((name,))(*values, out=out)
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise ArgumentError(f'wrenches must be a dict such as {{"{self.links[-1]}": F}}, not {type(wrenches).__name__}')
        extra, wrenches = extra or {}, wrenches or {}
        for frame in wrenches:
            self._model.frame(frame)
        kernel = self._kernel((name,), frames=tuple(wrenches), extra=tuple(extra), damping=bool(damping))
        return kernel(*values, *extra.values(), *wrenches.values(), out=out)

    def _at_frame(self, key: tuple[str, ...], values: tuple, out: Array | None) -> Any:
        """A kernel of one frame, through its built-in entry; ``key`` is the quantity and its words."""
        try:
            fast = self._entries[key]
        except (KeyError, TypeError):
            self._model.frame(key[1])
            kernel = self._kernel((":".join(key),))
            fast = self._entries[key] = kernel.builtin(key[0], "", kernel)
        return fast(*values) if out is None else fast(*values, out=out)

    def _own_joints(self) -> list[int]:
        return [i for i, _ in self._model.outward() if self._model.coupling[i] is None]

    # -- surgery ---------------------------------------------------------------------------------------------

    def lock(self, joints: Mapping[str, ArrayLike] | Sequence[str]) -> Robot:
        """The robot with these joints welded, ``{"elbow": 0.3}``, or at their neutral configuration, ``["elbow"]``."""
        if not isinstance(joints, Mapping):
            names = [joints] if isinstance(joints, str) else list(joints)
            joints = {n: self._model.joint[self.joint(n).index].neutral() for n in names}
        return Robot(surgery.lock(self._description, joints))

    def subtree(self, link: str) -> Robot:
        """The part that hangs on a link, as a robot of its own with that link as its base."""
        return Robot(surgery.subtree(self._description, link))

    def attach(
        self, other: Robot, at: str, *, xyz: Sequence[float] = (0, 0, 0), rpy: Sequence[float] = (0, 0, 0), prefix: str = ""
    ) -> Robot:
        """Another robot welded on at a link or frame: a gripper on an arm.  ``prefix`` keeps its names apart."""
        return Robot(surgery.attach(self._description, other.description, at, xyz=xyz, rpy=rpy, prefix=prefix))

    def with_payload(self, at: str, mass: float, com: Sequence[float] = (0, 0, 0), inertia: Any = None) -> Robot:
        """A load fixed to a link or frame; ``com`` and ``inertia`` (about the com) in that frame."""
        return Robot(surgery.payload(self._description, at, mass, com, inertia))

    def rebase(self, link: str) -> Robot:
        """The same mechanism with another link as its base."""
        return Robot(surgery.rebase(self._description, link))

    def with_base(self, base: str) -> Robot:
        """The same robot with a ``"fixed"`` or a ``"floating"`` base."""
        return Robot(surgery.with_base(self._description, base))

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """The same robot where gravity is another [m/s²]."""
        return Robot(surgery.with_gravity(self._description, gravity))

    def without_couplings(self) -> Robot:
        """The same robot with its mimic joints set free, each with a coordinate of its own."""
        return Robot(surgery.without_couplings(self._description))

    # -- being an object -------------------------------------------------------------------------------------

    def __getstate__(self) -> Description:
        return self._description

    def __setstate__(self, description: Description) -> None:
        self.__init__(description)  # type: ignore[misc]

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name != "mass":
            raise AttributeError(
                f"a Robot does not change, so {name} cannot be set; robot.lock, .with_gravity ... make new ones"
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self._description == other._description

    def __hash__(self) -> int:
        return hash((self.name, self.links, self.joints))

    def __str__(self) -> str:
        return tree(self._description, self._model)

    def __repr__(self) -> str:
        moving = sum(name != FLOATING_BASE for name in self.joints)
        parts = f"{moving} joints, {len(self.links)} links, {self._description.base} base"
        return f"<Robot {self.name!r}: {parts}, nq={self.nq}, nv={self.nv}, {self.mass:.4g} kg>"
