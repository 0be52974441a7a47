"""Lines to try, below ``torsor COMMAND --help``; the tests type every one."""

from __future__ import annotations

EXAMPLES = {
    "info": ("torsor info panda", "torsor info my_robot.urdf --json"),
    "check": ("torsor check my_robot.urdf", "torsor check my_robot.urdf --repair repaired.urdf"),
    "view": ("torsor view panda", "torsor view my_robot.urdf --q elbow=1.5"),
    "demo": ("torsor demo --open",),
    "torque": (
        "torsor torque ur5 --q elbow_joint=1.57 --a 0.5",
        "torsor torque my_robot.urdf states.csv --a 0 --out torques.csv",
        "torsor torque ur5 --wrench tool0=0,0,0,0,0,-20",
    ),
    "accel": ("torsor accel two_link --q 0.5,-0.2 --tau 20,5", "torsor accel my_robot.urdf states.csv --tau 0"),
    "mass": ("torsor mass two_link --q 0,1.57", "torsor mass my_robot.urdf states.csv --out masses.npz"),
    "pose": ("torsor pose two_link --q 0,1.57 --frame tip", "torsor pose my_robot.urdf states.csv --out poses.csv"),
    "jacobian": ("torsor jacobian two_link --q 0,1.57 --in body", "torsor jacobian my_robot.urdf --frame hand --json"),
    "ik": (
        "torsor ik panda -f panda_hand_tcp --xyz 0.4,0.1,0.3 --rpy 180,0,0 --degrees",
        "torsor ik ur5 --frame tool0 --xyz 0.4,0.1,0.3 --rpy 180,0,0 --degrees --all",
        "torsor ik my_robot.urdf --xyz 1.2,0.3,0 --open",
        "torsor ik my_robot.urdf targets.csv --out joints.csv",
    ),
    "trajectory": (
        "torsor trajectory panda --from ready --to 0,0,0,-1.5,0,1.5,0 --open",
        "torsor trajectory ur5 --to 0.5,-1,1,0,0,0 --profile s-curve --out motion.csv",
    ),
    "equations": ("torsor equations two_link", "torsor equations two_link --format latex --only g --out g.tex"),
    "explain": ("torsor explain ur5 --a 1", "torsor explain ur5 --a 1 --joint elbow_joint"),
    "simulate": (
        "torsor simulate ur5 --open",
        "torsor simulate ur5 --control pd --target 0.5 --plot curves.svg",
        "torsor simulate my_robot.urdf --seconds 2 --out motion.csv",
    ),
    "export": ("torsor export ur5 --to c --quantity inverse_dynamics --out arm", "torsor export ur5 --to mjcf"),
    "convert": ("torsor convert my_robot.urdf my_robot.mjcf",),
    "verify": ("torsor verify ur5", "torsor verify my_robot.urdf --no-peers --samples 4"),
    "bench": ("torsor bench ur5", "torsor bench my_robot.urdf --batch 1000 --json"),
}
