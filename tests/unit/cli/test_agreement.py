"""Defaults that stand in two places are the same."""

from dataclasses import fields

from ingestd.convert import ConvertOptions
from ingestd.embed.batches import BATCH_TOKENS
from ingestd.embed.cache import LIMIT_BYTES
from ingestd.settings import EmbedderSettings, RootConverterSettings, StoreSettings
from ingestd.wiring.engines import convert_options
from ingestd_adapters.qdrant_options import EdgeOptions


def test_the_conversions_defaults_are_the_configurations() -> None:
    assert convert_options(RootConverterSettings()) == ConvertOptions()


def test_every_key_of_the_converter_reaches_the_conversion() -> None:
    other = {"pdf": "x", "office": "y", "ocr": "off", "ocr_languages": ("deu",)}
    for field in fields(RootConverterSettings):
        value = other.get(field.name, 999_999_999)
        assert convert_options(RootConverterSettings(**{field.name: value})) != ConvertOptions(), field.name


def test_the_embedders_defaults_are_the_configurations() -> None:
    assert EmbedderSettings().batch_tokens == BATCH_TOKENS
    assert EmbedderSettings().cache_bytes == LIMIT_BYTES


def test_the_embedded_stores_defaults_are_the_configurations() -> None:
    assert StoreSettings().min_free_bytes == EdgeOptions(directory="x").min_free_bytes
