"""The inputs of the viewer's user: slider positions, a dragged target, playback, applied force.

A small state machine without a browser: events are method calls, :meth:`Session.look` returns the displayed quantities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.look.viewer.sliders import Sliders
from torsor.look.viewer.state import DisplayedState, Stage
from torsor.look.viewer.target import Target
from torsor.look.viewer.track import Track
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.look.explain import TorqueTerm
    from torsor.simulate import Result


#: simulated seconds a second
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0)


class Session:
    """The state of one page.

    >>> import torsor as ts
    >>> session = Session(Stage(ts.mechanisms.four_bar()))
    >>> session.slide(0, 0.5)  # the crank; the rest follows
    >>> session.look().closure_error < 1e-9
    True
    """

    def __init__(self, stage: Stage, q: ArrayLike | None = None):
        self.stage = stage
        self.sliders = Sliders(stage.robot, stage.scene.size)
        self.frame, self.target = stage.frame, Target(stage)
        self.force: Array = np.zeros(3)
        self.track: Track | None = None
        self.time, self.playing, self.speed = 0.0, False, 1.0
        self.trouble, self.named = "", ""  #: a message, and the named configuration that is shown
        self.wrenches: dict[str, Array] | None = None  #: of the simulation, while it is shown
        self.contacts: tuple[Array, Array] | None = None  #: points and forces of its contacts, (n, 3) each
        if q is None:
            self.reset()
        else:
            self.show(q)

    # -- a pose ----------------------------------------------------------------------------------------------

    def show(self, q: ArrayLike) -> None:
        """The robot at q, at rest; loops as q has them, open ones too."""
        robot = self.stage.robot
        q = np.array(q, float)
        if q.shape != (robot.nq,):
            raise ArgumentError(f"q has shape {q.shape}, expected ({robot.nq},): one configuration at a time here")
        robot.center_of_mass(q)  # raises an error for non-finite numbers and for zero quaternions
        self._rest(q, self.sliders.values(q), "")

    def slide(self, k: int, value: float) -> None:
        """Set slider k to a value; loops are closed again, or a message reports that they stay open."""
        values = list(self.values)
        values[k] = float(value)
        guess = self.sliders.configuration(values)
        q, trouble = self.stage.close_loops(guess, self.sliders.rows[k].joint)
        self._rest(q, self.sliders.values(q) if self.stage.robot.loops else values, trouble)

    def reset(self) -> None:
        """The configuration nearest to the neutral one within the limits; with loops the neutral one, which closes them."""
        robot = self.stage.robot
        self.show(robot.neutral() if robot.loops else robot.clip(robot.neutral()))

    def choose(self, name: str) -> None:
        """A named configuration of the robot, with its loops closed if that can be."""
        q, trouble = self.stage.close_loops(self.stage.robot.configuration(name))
        self._rest(q, self.sliders.values(q), trouble)
        self.named = name

    def shuffle(self, rng: np.random.Generator | int | None = None) -> None:
        """A random configuration within the limits, with its loops closed if that can be."""
        q, trouble = self.stage.close_loops(self.stage.robot.random_configuration(rng), attempts=20)
        self._rest(q, self.sliders.values(q), trouble)

    def follow(self) -> None:
        """Bring the frame of the target to it, if the user has dragged it since the last time."""
        target = self.target
        if target.moved:
            q, dragged = target.follow(self.q), target.dragged
            message = target.message
            self._rest(q, self.sliders.values(q), "")
            target.dragged, target.message = dragged, message

    def _rest(self, q: Array, values: list[float], trouble: str) -> None:
        self.q, self.values, self.trouble, self.playing, self.wrenches = q, values, trouble, False, None
        self.named, self.contacts = "", None
        self.target.release()
        self.v = self.a = np.zeros(self.stage.robot.nv)

    # -- a motion --------------------------------------------------------------------------------------------

    def load(self, result: Result | Track) -> None:
        """A simulation to play, from its beginning."""
        self.track = result if isinstance(result, Track) else Track.of(result, self.stage.robot)
        self.scrub(0.0)
        self.playing = True

    def scrub(self, time: float) -> None:
        """The motion at a time [s] after its beginning."""
        if self.track is None:
            return
        self.time = float(np.clip(time, 0.0, self.track.duration))
        k = self.track.index(self.time)
        self.q, self.v, self.a = self.track.q[k], self.track.v[k], self.track.a[k]
        self.values, self.trouble, self.named = self.sliders.values(self.q), "", ""
        self.target.release()
        self.wrenches = {frame: F[k] for frame, F in self.track.wrenches.items()}
        self.contacts = None if self.track.contacts is None else (self.track.contacts[0][k], self.track.contacts[1][k])

    def play(self) -> None:
        """Continue the playback; restart it after the end."""
        if self.track is not None:
            self.scrub(0.0 if self.time >= self.track.duration else self.time)
            self.playing = True

    def advance(self, seconds: float) -> None:
        """Real time passes; at the end of the motion it stops."""
        if self.playing and self.track is not None:
            self.scrub(self.time + self.speed * seconds)
            self.playing = self.time < self.track.duration

    # -- display ---------------------------------------------------------------------------------------------

    def look(self) -> DisplayedState:
        """The current state, under the force of the arrow; a simulation has its own."""
        return self.stage.look(self.q, self.v, self.a, self.frame, self.force, self.wrenches)

    def parts(self) -> tuple[TorqueTerm, ...]:
        """The joint forces of the current state, cause by cause."""
        pulled = self.stage.wrench(self.q, self.frame, self.force)
        return self.stage.parts(self.q, self.v, self.a, pulled if self.wrenches is None else self.wrenches)
