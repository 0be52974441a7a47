"""Contact: shapes of links, and the surfaces that they touch; users call it ``torsor.contacts``.

>>> import torsor as ts
>>> block = ts.robots.two_link().with_contacts(ts.contacts.point("tip"), ts.contacts.plane(through=(0, 0, -0.5)), friction=0.5)
>>> list(block.terms)
['contact']
"""

from torsor.model.contact.shapes import Placed, Shape, ball, box, capsule, corners, grid, height, plane, point, rim, sphere

__all__ = ["Placed", "Shape", "ball", "box", "capsule", "corners", "grid", "height", "plane", "point", "rim", "sphere"]
