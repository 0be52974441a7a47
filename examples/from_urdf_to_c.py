"""From a URDF file to C for a controller: inverse dynamics and a Jacobian, compiled and tested if a compiler is available."""

import shutil
import subprocess

import torsor as ts
from torsor.export import export_c

ts.save_urdf(ts.robots.ur5(), "arm.urdf")  # in place of your own file

robot = ts.load("arm.urdf").with_payload("tool0", mass=1.5)  # model of the controller
header, source, test = export_c(robot, "arm", "inverse_dynamics", "jacobian:tool0", dtype="float32", name="arm")

print(f"{header.name}:\n")
print(header.read_text())
print(f"{source.name}: {len(source.read_text().splitlines())} lines")

compiler = shutil.which("cc")
if compiler:
    subprocess.run([compiler, "-std=c99", "-O2", source, test, "-lm", "-o", "arm_test"], check=True)
    print(subprocess.run(["./arm_test"], check=True, capture_output=True, text=True).stdout)
else:
    print("no C compiler found; arm_test.c is the test program")
