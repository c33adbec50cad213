"""Values that travel between the stages: frozen, comparable, free of input and output."""
