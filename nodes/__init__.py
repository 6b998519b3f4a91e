"""One file per node of the graph, beside the state they share and the rules they obey."""
