from ingestd.convert.decode import clean, decode


def test_paragraphs_lie_between_blank_lines_and_keep_their_places(workshop) -> None:
    data = b"  First line\r\nsecond.  \r\n\r\n\t\r\nNext\n\n\n   \nLast\fpage\n"
    document = workshop.document("notes.txt", data)
    assert [block.text for block in document.blocks] == ["First line\nsecond.", "Next", "Last\npage"]
    assert all(document.markdown[block.start : block.end].strip() for block in document.blocks)
    assert document.title == "notes"


def test_a_few_damaged_bytes_do_not_change_the_encoding() -> None:
    decoded = decode("Grüße aus Köln und Zürich, über".encode() + b"\xff\xfe")
    assert (decoded.encoding, decoded.replaced) == ("utf-8", 2)


def test_a_few_foreign_bytes_are_read_as_the_commonest_encoding() -> None:
    assert decode("Grüße".encode("latin-1")).text == "Grüße"


def test_a_declared_encoding_is_believed_only_when_it_can_be_true() -> None:
    assert decode("価格".encode("shift_jis"), "shift_jis").text == "価格"
    assert decode("é".encode("latin-1"), "utf-8").text == "é"
    assert decode("“é”".encode("cp1252"), "iso-8859-1").text == "“é”"
    assert decode(b"abc\xe9", "no-such-encoding").encoding == "cp1252"


def test_cleaning_keeps_every_offset() -> None:
    text = "a\x00b\ud800c\td\re\x7f"
    assert clean(text) == "a\ufffdb\ufffdc\td\re\ufffd"
    assert len(clean(text)) == len(text)
