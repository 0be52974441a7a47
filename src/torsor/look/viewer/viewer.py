"""The live page: a robot in the browser, on this machine alone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from torsor.errors import TorsorError
from torsor.look.scene import Scene
from torsor.look.viewer import serving
from torsor.look.viewer.page import Page
from torsor.look.viewer.session import Session
from torsor.look.viewer.state import Stage
from torsor.support.html import element
from torsor.support.locks import new_lock

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result

#: largest number of images per second
RATE = 30.0


class Viewer:
    """A page that shows a robot: ``url`` is where, :meth:`show` a pose, :meth:`play` a simulation, :meth:`close` ends it.

    One thread draws: events in the browser and calls of these methods change the session, and the newest state is drawn.
    A context manager closes the page when its block ends.
    """

    def __init__(
        self,
        robot: Robot,
        q: ArrayLike | None = None,
        result: Result | None = None,
        *,
        port: int = 0,
        roots: Sequence[str | os.PathLike[str]] = (),
        style: str = "auto",
    ):
        self.session = Session(Stage(robot, Scene.of(robot, roots, style)), q)
        if result is not None:
            self.session.load(result)
        self.server, self._url = serving.serve(port, label=self.session.stage.robot.name)
        self.lock, self._changed, self._closed = new_lock(), threading.Event(), threading.Event()
        try:
            self._page = Page(self)
        except BaseException:
            serving.stop(self.server)
            raise
        self._painter = threading.Thread(target=self._paint, name="torsor.look.viewer", daemon=True)
        self._changed.set()
        self._painter.start()

    @property
    def url(self) -> str:
        """The secret address of the page, http://127.0.0.1:port/secret/."""
        return self._url

    def show(self, q: ArrayLike) -> None:
        """The robot at a configuration (nq,), at rest."""
        self.do(self.session.show, q)

    def play(self, result: Result) -> None:
        """A simulation, from its beginning."""
        self.do(self.session.load, result)

    def close(self) -> None:
        """Close the viewer and its server; further calls have no effect."""
        if not self._closed.is_set():
            self._closed.set()
            self._changed.set()
            self._painter.join(timeout=5)
            serving.stop(self.server)

    def wait(self) -> None:
        """Until the page is closed, or Ctrl-C."""
        try:
            while not self._closed.wait(0.5):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "closed" if self._closed.is_set() else self.url
        return f"<Viewer of {self.session.stage.robot.name!r}: {where}>"

    def _repr_html_(self) -> str:
        """The page inside a notebook that runs on this machine, and its address."""
        if self._closed.is_set():
            return element("p", repr(self))
        style = "width: 100%; height: 560px; border: 0"
        frame = element("iframe", src=self.url, title=f"Viewer of {self.session.stage.robot.name}", style=style)
        return element("div", frame, element("p", "Viewer: ", element("a", self.url, href=self.url, target="_blank")))

    # -- inside ----------------------------------------------------------------------------------------------

    def do(self, action: Callable[..., Any] = lambda: None, *arguments: Any) -> None:
        """Run an action on the session, then draw it."""
        with self.lock:
            action(*arguments)
        self._changed.set()

    def try_in_browser(self, action: Callable[..., Any] = lambda: None, *arguments: Any) -> None:
        """The same for actions in the browser; errors are shown there."""
        try:
            self.do(action, *arguments)
        except TorsorError as error:
            self.do(setattr, self.session, "trouble", str(error))

    def push(self, carried: bool) -> None:
        """Simulate the motion under the force from the current state, and play it."""
        session = self.session
        with self.lock:
            q, frame, force = session.q, session.frame, session.force
        try:
            self.do(session.load, session.stage.push(q, frame, force, carried=carried))
        except TorsorError as error:
            self.do(setattr, session, "trouble", str(error))

    def choose_target(self, frame: str, kind: str) -> None:
        """A target for a frame ("": none) that can be dragged; the page goes on while its kernels are compiled."""
        target = self.session.target
        with self.lock:
            q = self.session.q
        try:
            target.prepare(frame, kind, q)
            self.do(target.choose, frame, kind)
        except TorsorError as error:
            self.do(setattr, target, "message", str(error))

    def _paint(self) -> None:
        last = time.perf_counter()
        while not self._closed.is_set():
            with self.lock:
                playing = self.session.playing
            self._changed.wait(1 / RATE if playing else None)
            self._changed.clear()
            now = time.perf_counter()
            with self.lock:
                self.session.advance(now - last if playing else 0.0)
            last = now
            if not self._closed.is_set():
                try:
                    self._page.paint()
                except TorsorError as error:  # a state that cannot be computed; the last image stays
                    self._page.joints.show_error(str(error))
            time.sleep(max(0.0, 1 / RATE - (time.perf_counter() - now)))
