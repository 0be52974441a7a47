"""record → Program → machine code or text.  Independent of robots.

May import scalar and support.
"""

from torsor.compile.derivative import forward, reverse
from torsor.compile.interpret import interpret
from torsor.compile.kernel import Kernel
from torsor.compile.program import Argument, Program, record, record_shortest
from torsor.compile.scan import Scan
from torsor.compile.threads import threads

__all__ = ["Argument", "Kernel", "Program", "Scan", "forward", "interpret", "record", "record_shortest", "reverse", "threads"]
