"""Protocols between the core and its adapters."""
