"""Who is tried, and what a newcomer types for each: the shortest way we found in its own documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = HERE / "scripts"


@dataclass(frozen=True)
class Contestant:
    """``install`` is what one ``pip install`` takes, ``show`` the command that starts the picture.

    {bin} is the environment's folder of programs, {panda} a URDF with meshes, for who brings none.  What ``show`` prints names
    a page or a picture: a local address, or a file that ends in .html or .gif.  ``remark`` says what a reader should know.
    """

    name: str
    install: tuple[str, ...]
    show: tuple[str, ...]
    remark: str = ""

    def script(self, job: str) -> Path:
        return SCRIPTS / f"{self.name}_{job}.py"


CONTESTANTS = (
    Contestant("torsor", (str(ROOT),), ("{bin}/torsor", "simulate", "panda", "--seconds", "5", "--replay", "panda.html")),
    Contestant(
        "pinocchio", ("pin", "meshcat", "example-robot-data"), ("{bin}/python", str(SCRIPTS / "pinocchio_show.py")),
        "a Panda comes with example-robot-data, a viewer with meshcat: one command installs the three",
    ),
    Contestant(
        "mujoco", ("mujoco",), ("{bin}/mujoco-studio", "--gfx", "web", "{panda}"),
        "no Panda is in the wheel (mujoco-menagerie fetches one, where there is a network): it is given example-robot-data's, "
        "with its collision meshes, in one folder; the studio simulates as long as it is open",
    ),
    Contestant(
        "roboticstoolbox", ("roboticstoolbox-python",), ("{bin}/python", str(SCRIPTS / "roboticstoolbox_show.py")),
        "the Panda with masses is the DH model, without hand or meshes; the picture is matplotlib's",
    ),
)  # fmt: skip
