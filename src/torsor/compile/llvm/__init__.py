"""Programs as LLVM IR, and the IR as machine code."""
