"""Logs of joint states: CSV, Parquet, NPZ, and JointState messages in MCAP files; no ROS is needed.

>>> import tempfile
>>> import torsor as ts
>>> from torsor import logs
>>> robot = ts.robots.two_link()
>>> with tempfile.TemporaryDirectory() as folder:
...     with open(f"{folder}/run.csv", "w") as file:
...         print("t,q[joint2],q[joint1]", "0.0,0.2,0.1", sep="\\n", file=file)
...     logs.read(f"{folder}/run.csv").states(robot).q
array([[0.1, 0.2]])
"""

from torsor.io.logs.differentiation import Differentiated, with_accelerations
from torsor.io.logs.log import Log, States
from torsor.io.logs.reading import read, read_chunks
from torsor.io.logs.writing import Writer

__all__ = ["Differentiated", "Log", "States", "Writer", "read", "read_chunks", "with_accelerations"]
