"""Documents from files, parsed where a hostile one can do no harm.

The owner's process imports no parser: foreign engines run in processes that are confined, watched and killed.
"""

from ingestd.convert.cache import ConversionCache
from ingestd.convert.conversions import Conversions, Converted
from ingestd.convert.options import ConvertOptions
from ingestd.convert.types import HEAD_BYTES, mime_of

__all__ = ["HEAD_BYTES", "ConversionCache", "Conversions", "ConvertOptions", "Converted", "mime_of"]
