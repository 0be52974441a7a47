"""How torsor's objects look in a notebook: tables, bars, and a simulation as a page that plays.

Nobody calls these; Jupyter asks an object for its ``_repr_html_``, and that comes here.  ``print`` shows the same as text.
"""

from torsor.notebook.motion import of_result
from torsor.notebook.parts import of_ellipsoid, of_explanation, of_trace
from torsor.notebook.robots import of_robot

__all__ = ["of_ellipsoid", "of_explanation", "of_result", "of_robot", "of_trace"]
