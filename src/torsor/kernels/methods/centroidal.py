"""Methods of Robot: the centre of mass, the momentum about it, zero-moment point and capture point."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import quantity_method
from torsor.kernels.options import PartOptions
from torsor.support.user_arrays import Array


class Centroidal(CompiledMechanism):
    """Centroidal quantities of all links, or of a part of the robot.

    ``below="link"`` is that link and all after it in the tree, ``links=[...]`` are links by name; by default all links count, a
    fixed base included, as in ``robot.mass``.  ``moving=True`` leaves out links fixed to a fixed base (Pinocchio's rule).
    """

    @quantity_method
    def center_of_mass(self, q: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """c = Σ m_i c_i / Σ m_i, ``(3,)`` [m], in the world.

        ``below="link"``: of that link and all after it in the tree; ``links=[...]``: of these links.  By default all links
        count, a fixed base included, as in ``robot.mass``; ``moving=True`` leaves out links fixed to a fixed base.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()  # 1 kg at the end of each link of 1 m
        >>> robot.center_of_mass([0.0, 0.0]), robot.center_of_mass([0.0, 0.0], below="link2")
        (array([1.5, 0. , 0. ]), array([2., 0., 0.]))
        """

    @quantity_method
    def center_of_mass_velocity(self, q: ArrayLike, v: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """ċ = J_c v, ``(3,)`` [m/s], in world axes; ``below``, ``links`` and ``moving`` as for :meth:`center_of_mass`."""

    @quantity_method
    def center_of_mass_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """c̈ = J_c a + J̇_c v, ``(3,)`` [m/s²], in world axes; with a = 0 it is J̇_c v.

        m c̈ is the sum of all external forces, the weight included.  ``below``, ``links`` and ``moving`` as for
        :meth:`center_of_mass`.
        """

    @quantity_method
    def center_of_mass_jacobian(self, q: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """J_c(q), ``(3, nv)``, with ċ = J_c v [m/s]; ``below``, ``links`` and ``moving`` as for :meth:`center_of_mass`."""

    @quantity_method
    def center_of_mass_jacobian_rate(self, q: ArrayLike, v: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """J̇_c(q, v) = dJ_c/dt, ``(3, nv)``, with c̈ = J_c a + J̇_c v [m/s²].

        J̇_c v alone is ``center_of_mass_acceleration(q, v, 0 * v)``, which takes fewer operations.  ``below``, ``links`` and
        ``moving`` as for :meth:`center_of_mass`.
        """

    @quantity_method
    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """h_G = (L_c, p) = A_G v, ``(6,)`` [N·m·s, N·s]: the momentum about the centre of mass, in world axes.

        The linear part is m ċ.  :meth:`momentum` is the same about the world's origin.  ``below``, ``links`` and ``moving`` as
        for :meth:`center_of_mass` (Orin, Goswami & Lee 2013).
        """

    @quantity_method
    def centroidal_momentum_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """ḣ_G = A_G a + Ȧ_G v, ``(6,)`` [N·m, N]: the sum of all external wrenches about the centre of mass, world axes.

        ``below``, ``links`` and ``moving`` as for :meth:`center_of_mass`.
        """

    @quantity_method
    def centroidal_matrix(self, q: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """A_G(q), ``(6, nv)``, with h_G = A_G v [N·m·s, N·s], the :meth:`centroidal_momentum` (Orin, Goswami & Lee 2013).

        ``below``, ``links`` and ``moving`` as for :meth:`center_of_mass`.
        """

    @quantity_method
    def centroidal_matrix_rate(self, q: ArrayLike, v: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """Ȧ_G(q, v) = dA_G/dt, ``(6, nv)``, with ḣ_G = A_G a + Ȧ_G v [N·m, N].

        Ȧ_G v alone is ``centroidal_momentum_rate(q, v, 0 * v)``, which takes fewer operations.  ``below``, ``links`` and
        ``moving`` as for :meth:`center_of_mass`.
        """

    @quantity_method
    def composite_inertia(self, q: ArrayLike, **part: Unpack[PartOptions]) -> Array:
        """I = [[I_c, 0], [0, m 1]], ``(6, 6)`` [kg·m², kg]: the robot as one rigid body, about its centre of mass, world axes.

        The angular part first, as in every 6×6 matrix of torsor.  ``below``, ``links`` and ``moving`` as for
        :meth:`center_of_mass`.
        """

    @quantity_method
    def zero_moment_point(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, height: ArrayLike = 0.0, **part: Unpack[PartOptions]
    ) -> Array:
        """p = (u × n + h f) / u·f, ``(3,)`` [m], in the world: the point of the ground about which no moment tips the robot.

        (n, f) is the wrench that the motion needs from the ground, about the world's origin; the ground is the plane u·p = h,
        h = ``height`` [m], u upwards (against gravity).  At rest, p is below the centre of mass.  In free fall f = 0, and there
        is no such point; where u·f < 0, the ground would have to pull.  ``below``, ``links`` and ``moving`` as for
        :meth:`center_of_mass` (Vukobratović & Borovac 2004).
        """

    @quantity_method
    def capture_point(self, q: ArrayLike, v: ArrayLike, height: ArrayLike = 0.0, **part: Unpack[PartOptions]) -> Array:
        """ξ = c + ċ/ω₀ on the ground, ``(3,)`` [m], ω₀ = √(g/z): a step there brings the linear inverted pendulum to rest.

        z is the height of the centre of mass over the ground, the plane u·p = ``height`` [m], u upwards (against gravity).
        ``below``, ``links`` and ``moving`` as for :meth:`center_of_mass` (Pratt et al. 2006).
        """
