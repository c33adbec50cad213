"""Finds out what changed below the roots."""
