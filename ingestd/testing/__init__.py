"""Contract tests and fakes for adapter authors."""
