"""What the documents need of Sphinx besides Sphinx: a module an idea, each with its own ``setup``."""
