"""Turns files into documents, in killable processes."""
