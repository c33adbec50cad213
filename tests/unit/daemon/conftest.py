from tests.unit.pipeline.conftest import empty_ledger, site

__all__ = ["empty_ledger", "site"]
