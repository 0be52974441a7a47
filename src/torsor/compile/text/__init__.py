"""Programs as text: C and Python."""
