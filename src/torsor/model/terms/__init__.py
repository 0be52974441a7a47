"""Terms: what changes the motion of a robot, one file each.

A term is data and a few functions over any scalar.  It reads the robot at a state (:class:`torsor.algorithms.equation.At`) and
returns forces or rows; :mod:`torsor.algorithms.equation` composes terms to one equation of motion.
"""
