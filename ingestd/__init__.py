"""Keeps a vector database true to some folders."""

__version__ = "0.1.0"
