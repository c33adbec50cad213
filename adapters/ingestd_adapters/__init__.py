"""Adapters to engines, reached only through entry points."""
