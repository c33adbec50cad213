"""Brings a document version into the store, add first."""
