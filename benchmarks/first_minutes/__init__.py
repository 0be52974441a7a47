"""The first five minutes with a library: install it, get a torque of a Panda, five seconds of motion, a moving picture."""
