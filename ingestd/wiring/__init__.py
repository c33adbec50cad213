"""Makes the parts from settings: the one place where engines are chosen by name."""
