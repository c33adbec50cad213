"""The chunkers exactly as the packages that introduced them published them."""
