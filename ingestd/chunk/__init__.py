"""Cuts documents into chunks: pure functions."""
