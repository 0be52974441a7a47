"""Symbolic equations of motion, from the same source as the machine code."""

import sympy as sp

import torsor as ts
from torsor.algorithms import crba, gravity_force, velocity_force

m1, m2, L1, L2, g = sp.symbols("m1 m2 L1 L2 g", positive=True)
q, v = sp.symbols("theta1 theta2"), sp.symbols("w1 w2")

model = ts.robots.two_link(m1=m1, m2=m2, L1=L1, L2=L2, g=g).model  # MR Figure 8.1, with its letters


def tidy(x):
    return sp.nsimplify(sp.trigsimp(sp.expand(x)))


M = sp.Matrix(crba(model, q)).applyfunc(tidy)
c = [tidy(x) for x in velocity_force(model, q, v)]
G = [tidy(x) for x in gravity_force(model, q)]

print("M(q), MR 8.10:")
sp.pprint(M)
print("\nc(q, v):", *c, sep="\n  ")
print("\ng(q):", *G, sep="\n  ")

numbers = {m1: 1, m2: 1, L1: 1, L2: 1, g: 9.81, q[0]: 0.3, q[1]: 0.5, v[0]: 1.0, v[1]: -2.0}
symbols = [float(x.subs(numbers)) for x in c]
print("\nc in symbols, then numbers:", symbols)
print("c from machine code:       ", ts.robots.two_link().velocity_force([0.3, 0.5], [1.0, -2.0]).tolist())
