"""Words that people search for, and the sections they should find first: entries of the index, made when the pages are built.

The search of the built pages ranks a main entry of the index, spelled like the query, above all others.  The pages stay plain
Markdown.  tests/docs/test_search.py searches for each word.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

#: section, as page#anchor → the words that lead to it
WORDS = {
    "getting-started": ("install", "tutorial", "first steps", "quick start"),
    "derivatives": (
        "gradient", "gradients", "derivative", "derivatives", "backpropagation", "autodiff", "automatic differentiation",
        "sensitivity", "hessian",
    ),
    "how-to#linearise-the-dynamics-lqr": ("lqr", "linearize", "linearise", "linearization", "state space"),
    "how-to#gravity-compensation": ("gravity compensation", "compensate gravity", "gravity torque"),
    "how-to#attach-a-payload-or-a-gripper": ("payload", "gripper", "attach", "tool"),
    "how-to#estimate-the-mass-of-a-payload": ("payload identification", "load identification", "parameter identification"),
    "how-to#call-it-in-a-real-time-loop": ("real time", "real-time", "realtime", "control loop", "1 khz", "latency"),
    "how-to#track-a-trajectory-computed-torque": ("computed torque", "trajectory tracking", "feedforward"),
    "how-to#control-the-tool-operational-space-control": ("operational space control", "osc"),
    "how-to#impedance-control": ("impedance", "impedance control", "compliance"),
    "time-optimal": ("topp", "toppra", "time scaling", "fastest motion", "torque limits"),
    "task-space#given-task-accelerations": ("vereshchagin", "constrained hybrid dynamics", "task acceleration"),
    "how-to#inverse-kinematics": ("inverse kinematics", "ik"),
    "trajectories": ("trajectory", "spline", "waypoints", "trapezoidal profile", "s-curve"),
    "how-to#identify-friction-from-a-log": ("friction identification",),
    "how-to#apply-external-forces": ("external force", "external forces", "external wrench"),
    "how-to#use-a-floating-base": ("floating base", "legged", "quadruped"),
    "contact": (
        "contact", "contacts", "ground", "legged locomotion", "walking", "coulomb friction", "friction cone", "contact forces",
    ),
    "contact#bounce": ("restitution", "bounce", "impact"),
    "contact#grasp": ("grasp", "grasping"),
    "contact#rough-ground": ("terrain", "heightmap", "height field", "rough terrain"),
    "contact#gradients-through-contact": ("differentiable simulation", "differentiable contact"),
    "contact-theory": ("signorini", "lcp", "ncp", "complementarity", "delassus", "time stepping"),
    "rollouts#robots-with-different-parameters": (
        "random masses", "random parameters", "domain randomization", "domain randomisation", "randomization",
        "robots that differ", "parameter variation",
    ),
    "rollouts": ("reinforcement learning", "policy", "vectorized simulation", "parallel simulation", "rollout"),
    "files#ros-packages": (
        "ros", "ros 2", "ros2", "ros_package_path", "ament_prefix_path", "package://", "package not found", "mesh not found",
    ),
    "files#xacro": ("xacro",),
    "models#change-a-mass-an-inertia-limits-armature-damping-or-a-frame": (
        "change mass", "set mass", "edit mass", "change inertia", "set inertia", "change limits", "joint limits", "set limits",
        "armature", "reflected inertia", "add frame", "tool frame", "tcp", "tool center point", "modify model",
        "change damping",
    ),
    "models#urdf": ("urdf", "load urdf"),
    "batches-and-threads#single-precision-float32": ("float32", "single precision"),
    "batches-and-threads#preallocated-results-out": ("out=", "preallocate", "allocation"),
    "export#casadi-jax-pytorch": ("adapters", "adapter", "torch", "pytorch", "jax", "casadi"),
    "export#c": ("c code", "code generation", "export c", "embedded"),
    "tutorials/urdf-to-microcontroller": ("microcontroller", "arduino", "stm32"),
    "conventions": ("units", "conventions", "sign", "quaternion order", "wrench sign", "frames"),
    "check": ("degrees", "millimetres", "inertia tensor", "check urdf", "validate urdf", "wrong inertia"),
    "errors-and-limits#what-torsor-does-not-do-collision-planning": (
        "collision", "gpu", "planning", "path planning", "inverse reinforcement",
    ),
}  # fmt: skip

logger = logging.getLogger(__name__)


class SearchWords(SphinxTransform):
    """Puts an index node before each section of WORDS; runs before the index is collected."""

    default_priority = 700

    def apply(self, **_: Any) -> None:
        for section, words in WORDS.items():
            page, _, anchor = section.partition("#")
            if page != self.env.docname:
                continue
            found = _section(self.document, anchor)
            if found is None:
                logger.warning("search_words: page %r has no section #%s", page, anchor)
                continue
            entries = [("single", word, found["ids"][0], "main", None) for word in words]
            found.parent.insert(found.parent.index(found), addnodes.index(entries=entries))


def _section(document: nodes.document, anchor: str) -> nodes.section | None:
    """The section with that anchor, as MyST makes them of headings; the page's own if none is given."""
    for section in document.findall(nodes.section):
        if not anchor or section.get("slug") == anchor or anchor in section["ids"]:
            return section
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(SearchWords)
    return {"parallel_read_safe": True}
