"""The graphs, ready to run."""
