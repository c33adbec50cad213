"""Opens, hashes and copies a source, safely."""
