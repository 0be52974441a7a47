"""Translates hints in library messages to command-line terms: Python arguments become options."""

from __future__ import annotations

import re

#: pattern in a library message → its command-line form
CLI_TERMS = {
    r"\bmimic=False": "--no-mimic",
    r"\bcall robot\.without_couplings\(\)": "give --no-mimic",
    r"\bload with strict=False": "omit --strict",
    r"\brobot\.with_damping\(True\)": "--damping",
    r"\bframes=\[\.\.\.\] selects links": "in Python, with_ground(frames=[...]) selects links",
    r"\brobot\.with_friction\('urdf'\) includes it": "in Python, robot.with_friction('urdf') includes it",
    r"\brobot\.with_base\([\"'](\w+)[\"']\)": r"--base \1",
    r"\bgive format=: .*": "give the format: --as urdf, mjcf, sdf or dh",
    r"\bread_(urdf|mjcf) reads it\b": r"--as \1 reads it",
    r"\bgive format=,": "give --to,",
    r"\bts\.load\(path, xacro_args=\{\}\) runs it": "--xacro run runs it",
    r"\bgive its folder as roots=\[\.\.\.\]": "give --root FOLDER",
    r"\bgive roots=\[\.\.\.\]": "give --root FOLDER",
    r"\(roots=, --mesh-root\)": "(--mesh-root FOLDER)",
    r": Builder\.loop\(\.\.\.\), or a file robot\.loops\.yaml and load\(\.\.\., loops=True\)":
        " instead, in a file robot.loops.yaml beside it, and give --loops auto",
    r"\bloops=True means": "--loops auto means",
    r"\bgive loops=path": "give --loops FILE",
    r"\bload with loops=True": "load with --loops auto",
    r"\bload with gravity=": "load with --gravity X,Y,Z",
    r"\bchoose with topic=:": "choose with --topic:",
    r"\bchoose the joints of one with joints=\[\.\.\.\]": "in Python, torsor.logs.read chooses the joints of one",
    r"\btorsor has a bundled robot of that name: ts\.robots\.(\w+)\(\)": r"torsor has a bundled robot of that name: \1",
    r"\bts\.check explains it, ts\.repair corrects files": "torsor check explains it, and corrects files with --repair OUT",
    r"\block (it|the joint) \(robot\.lock\)": r"make \1 fixed in the file",
    r"; use robot\.lock\(\.\.\.\)": "; use a fixed joint in the file",
    r" \(use robot\.lock\)": " (use a fixed joint in the file)",
    r"; add them with robot\.constrained\(\.\.\.\)": "; torsor in Python can add them as constraints",
    r"\bsee robot\.report\b": "see torsor info",
    r"\brobot\.neutral\(\) is": "the neutral configuration is",
    r"\buse robot\.assemble\(q\)": "omit --q to start at a closed configuration",
    r"\buse robot\.constrained\(\)\.project_velocity\(q, v\)": "omit --v to start at rest",
    r"; use (robot\.constrained\(.*\)), or (robot\.without_\w+\(.*?\)) for the tree":
        r"; in Python, use \1, or \2 for the tree",
    r"\bduration must be": "--seconds must be",
    r"\bdt must be": "--dt must be",
    r"\bduration=(\S+) (s is too short|must be)": r"--duration \1 \2",
    r"\bneeds a limit: (\w+)=": r"needs a limit: --\1",
    r"\bso that jerk= cannot hold": "so that --jerk cannot hold",
    r"\bcutoff must be": "--cutoff must be",
    r"\bq0 is outside its limits": "--q0 is outside its limits",
    r"\bintegrator='(\w+)'": r"--integrator \1",
    r"\bInput should be a valid integer[^;]*": "it must be a whole number",
    r"\bInput should be a valid number[^;]*": "it must be a number",
    r"\bInput should be greater than or equal to (\S+?);": r"it must be \1 or more;",
    r"\bInput should be less than or equal to (\S+?);": r"it must be \1 or less;",
    r"\b\w{1,99}\.(\w{1,99}): \1 is not finite although every argument is;":
        "the result is not finite although every number given is:",
}  # fmt: skip
_PATTERNS = tuple((re.compile(library), typed) for library, typed in CLI_TERMS.items())


def in_cli_terms(text: str) -> str:
    """A library message in command-line terms.

    >>> in_cli_terms("joint 'b' mimics 'c', which is not there; mimic=False makes such joints independent")
    "joint 'b' mimics 'c', which is not there; --no-mimic makes such joints independent"
    """
    for library, typed in _PATTERNS:
        text = library.sub(typed, text)
    return text
