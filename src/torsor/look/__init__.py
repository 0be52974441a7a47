"""Pictures and tables of what it is given: scenes, explanations of a state, the replay page, the live page.

May import every room up to mechanics and symbolic.
"""
