"""MR ch. 11: computed torque, and a robot under computed torque with model errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.bridges.modern_robotics.chain import chain
from torsor.bridges.modern_robotics.dynamics import InverseDynamics
from torsor.bridges.modern_robotics.simulation import _rows, _tips, advance, initial
from torsor.support.user_arrays import Array


def ComputedTorque(
    thetalist: ArrayLike, dthetalist: ArrayLike, eint: ArrayLike, g: ArrayLike, Mlist: Any, Glist: Any, Slist: Any,
    thetalistd: ArrayLike, dthetalistd: ArrayLike, ddthetalistd: ArrayLike, Kp: float, Ki: float, Kd: float,
) -> Array:  # fmt: skip
    """τ = M̃(θ)(θ̈_d + K_p e + K_i(∫e + e) + K_d ė) + h̃(θ, θ̇), with e = θ_d − θ (MR 11.4.2).

    That is the inverse dynamics of the acceleration in brackets.  ``eint`` is the sum of the errors before this one.

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> ComputedTorque([0.0], [0.0], [0.0], [0, 0, 0], M, G, S, [0.1], [0.0], [1.0], 20.0, 10.0, 18.0).round(6)
    array([2.4])
    """
    e = np.subtract(thetalistd, thetalist)
    wanted = np.asarray(ddthetalistd) + Kp * e + Ki * (np.asarray(eint) + e) + Kd * np.subtract(dthetalistd, dthetalist)
    return InverseDynamics(thetalist, dthetalist, wanted, g, np.zeros(6), Mlist, Glist, Slist)


def SimulateControl(
    thetalist: ArrayLike, dthetalist: ArrayLike, g: ArrayLike, Ftipmat: ArrayLike, Mlist: Any, Glist: Any, Slist: Any,
    thetamatd: ArrayLike, dthetamatd: ArrayLike, ddthetamatd: ArrayLike,
    gtilde: ArrayLike, Mtildelist: Any, Gtildelist: Any, Kp: float, Ki: float, Kd: float, dt: float, intRes: int,
    plot: bool = True,
) -> tuple[Array, Array]:  # fmt: skip
    """(τ(t), θ(t)), N×n each: the robot (g, M, G) under computed torque with the model (g̃, M̃, G̃) (MR 11.4.2).

    At each row of the wished motion the torque is computed once and held for ``dt`` [s], integrated by ``intRes`` Euler steps;
    the row of θ is the state after it.  At the end both motions are drawn where matplotlib is installed; ``plot=False`` leaves
    that out.

    >>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
    >>> wished, still, none = np.ones((300, 1)), np.zeros((300, 1)), np.zeros(3)
    >>> run = (wished, still, still, none, M, G, 20.0, 10.0, 18.0, 0.01, 4)
    >>> tau, theta = SimulateControl([0.9], [0.0], none, 0, M, G, S, *run, plot=False)
    >>> tau.shape, abs(theta[-1] - 1) < 0.05
    ((300, 1), array([ True]))
    """
    robot, model = chain(Mlist, Glist, Slist), chain(Mtildelist, Gtildelist, Slist)
    wished, rate, acceleration = (
        _rows(x, name) for x, name in ((thetamatd, "thetamatd"), (dthetamatd, "dthetamatd"), (ddthetamatd, "ddthetamatd"))
    )
    N, F = len(wished), _tips(Ftipmat, len(wished))
    gravity, believed, nothing = np.array(g, dtype=float), np.array(gtilde, dtype=float), np.zeros(6)
    torque = model.functions["InverseDynamics"].entry(N)
    robot.functions["EulerStep"].entry(N * int(intRes))  # this many steps justify a compiled kernel from the first step
    state = np.array([initial(robot, thetalist, dthetalist)] * 2)
    taumat, thetamat, eint = np.empty((N, robot.n)), np.empty((N, robot.n)), np.zeros(robot.n)
    for i in range(N):
        theta, dtheta = state[0]
        e = wished[i] - theta
        wanted = acceleration[i] + Kp * e + Ki * (eint + e) + Kd * (rate[i] - dtheta)  # MR 11.4.2
        taumat[i] = torque(theta, dtheta, wanted, believed, nothing)
        advance(robot, state, taumat[i : i + 1], gravity, F[i : i + 1], dt, intRes)
        state[0] = state[1]
        thetamat[i] = state[0, 0]
        eint = eint + dt * (wished[i] - thetamat[i])
    if plot:
        _plot(thetamat, wished, dt)
    return taumat, thetamat


def _plot(actual: Array, wished: Array, dt: float) -> None:
    """Plot actual angles as lines and desired ones as dots, one colour per joint."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("SimulateControl: no plot, because matplotlib is not installed")
        return
    time = np.linspace(0, len(actual) * dt, len(actual))
    for i in range(actual.shape[1]):
        (line,) = plt.plot(time, actual[:, i], "-", label=f"ActualTheta{i + 1}")
        plt.plot(time, wished[:, i], ".", color=line.get_color(), label=f"DesiredTheta{i + 1}")
    plt.legend(loc="upper left")
    plt.xlabel("Time")
    plt.ylabel("Joint Angles")
    plt.title("Plot of Actual and Desired Joint Angles")
    plt.show()
