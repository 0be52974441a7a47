"""trace → Program → machine code.  Knows nothing of robots."""

from torsor.compile.derivative import forward, reverse
from torsor.compile.kernel import Kernel
from torsor.compile.program import Argument, Program, shortest, trace
from torsor.compile.replay import replay
from torsor.compile.scan import Scan
from torsor.compile.threads import threads

__all__ = ["Argument", "Kernel", "Program", "Scan", "forward", "replay", "reverse", "shortest", "threads", "trace"]
