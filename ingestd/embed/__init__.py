"""Turns texts into vectors, never the same text twice."""
