"""Thresholds of the findings, each with its reason; all were tested on the robots of docs/findings.md."""

from __future__ import annotations

# -- matter -------------------------------------------------------------------------------------------------------------
#: density of osmium, the densest material [kg/m³]
DENSEST = 22_590.0
#: lowest plausible density of a link: its mass over the volume of its box [kg/m³]
LIGHTEST = 4.0
#: density of steel, aluminium and air in a housing: range for a mass corrected by a factor 1000 [kg/m³]
USUAL_DENSITY = (50.0, 12_000.0)

# -- inertia ------------------------------------------------------------------------------------------------------------
#: an impossible inertia that breaks its law by less than this share of its largest moment is rounding in the CAD program
ROUNDED = 0.01
#: share of M_jj below which a finding about an inertia stays a note
MATTERS = 0.05
#: share of M_jj of every joint below which a finding about a shape is not reported
NEGLIGIBLE = 0.01
#: the Bhatia–Davis bound uᵀΣu ≤ m (b − c)(c − a) holds for mass inside the shape, here widened by OUTSIDE on both sides, since
#: drawn shapes leave out motors and cables; an inertia beyond it by this factor is noted
BEYOND_SHAPE = 1.2
#: and beyond it by this factor there is a warning
FAR_BEYOND = 2.0
#: and beyond it by this factor the number is not this link's, and M is wrong: an error.  The largest factor of 1146 links of 69
#: public files is 27, and units differ by 1000
IMPOSSIBLE = 100.0
#: a smaller shape is a marker of a frame, not a body [m]
MARKER = 0.02
#: against the uniform body: less than this would be a heavy core in a light shell, which does occur
CORE = 0.01
#: log10 of the ratio to the uniform body may be this far from a power of 1000 and still indicate the unit: hollow or
#: with a heavy core, a link is within a factor of four of the uniform one
UNIT_WINDOW = 0.6

# -- links without a shape: radius of gyration k, reach of the robot -----------------------------------------------------
#: a shorter reach does not indicate the size of the links [m]
SHORTEST_REACH = 0.05
#: a body has k ≤ R in a ball of radius R, and a last link seldom is larger than all of the robot before it
GYRATION_REACH = 1.5
#: k of usual bodies over that of a ball of water of the same mass: a ball of steel has a half, a rod sixty times as long as
#: thick has ten.  Units differ by √1000 = 32 in k, so at most one of them fits
COMPACT = (0.5, 10.0)
#: the mass in a ball of radius k [kg/m³]: a mast of ten metres and a kilogram has ten times as much, and air has 1.2
THINNEST = 0.001
#: and a hundredth of it is an error: as thin as the atmosphere 80 km high
VACUUM = 1e-5
#: distance of a centre of mass from its link's origin over the reach: millimetres are a thousand, a long last link is one
FAR_CENTRE = 3.0

# -- fits of an inertia to its shape: angles between second moments [degrees] ---------------------------------------------
#: nearer than this, two bodies are alike
ALIKE = 12.0
#: farther than this they are different, even with unknown parts inside the housing
UNLIKE = 35.0
#: a fit in size too: the ratio of the traces
ALIKE_SIZE = 2.5
#: a fit decides alone within DECIDING, if it is TIMES_NEARER nearer than the given numbers, which are farther off than FAR_OFF:
#: of 1146 links of 69 files it rejects 10 more, each of which fits within 8° in other axes
DECIDING = 8.0
TIMES_NEARER = 3.5
FAR_OFF = 18.0
#: and then the ratio of the traces may be this large (hollow, or with a heavy core)
DECIDING_SIZE = 4.0

# -- centre of mass -----------------------------------------------------------------------------------------------------
#: outside the convex hull by more than this share of the shape's size, and by CLEARLY_OUTSIDE; less is an undrawn motor
OUTSIDE = 0.15
CLEARLY_OUTSIDE = 0.01  # [m]

# -- pairs --------------------------------------------------------------------------------------------------------------
#: between left and right: manufacturing and CAD exports agree to this
SAME = 0.02
#: above this share, a difference is a warning and not a note
DIFFERENT = 0.10
#: centres of mass that differ by less than this share of their distance do not distinguish a mirror image from a copy
DISTINGUISHING = 0.10

# -- joints -------------------------------------------------------------------------------------------------------------
#: an axis with four digits is within this of length one
AXIS = 1e-3
#: two turns: beyond, a bound that is a multiple of five is in degrees
TWO_TURNS = 12.6
#: longest plausible rail of a robot [m]
RAIL = 20.0
#: a number this large means "no limit"
SENTINEL = 1e5

# -- the whole ----------------------------------------------------------------------------------------------------------
#: condition of M with its rows scaled to a unit diagonal: Cholesky loses as many digits
ILL_CONDITIONED = 1e8
#: and beyond this condition no digits remain
NUMERICALLY_SINGULAR = 1e13
#: a stop within this distance of a gimbal lock counts as inside it: M has a condition above 10⁶ there [rad]
LOCKED = 1e-3
#: effort limit over M_jj [rad/s² or m/s²]: beyond, a step of a millisecond turns the joint by half a radian
TOO_LIGHT = 1e6
#: configurations at which the mass matrix is checked
SAMPLES = 8
