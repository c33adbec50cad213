import pytest

from ingestd.settings import Cron, Interval, rescan_from


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("6h", 21600), ("1d", 86400), (" 1.5h ", 5400), ("2 m", 120)]
)
def test_intervals_are_read(text: str, seconds: float) -> None:
    assert rescan_from(text) == Interval(seconds)


@pytest.mark.parametrize(
    "line", ["0 3 * * *", "*/10 * * * *", "0,30 8-18 * jan-mar mon-fri", "5 4 1 1 0", "0-30/5 * * * 7"]
)
def test_cron_lines_are_read(line: str) -> None:
    assert rescan_from(line) == Cron(line)


@pytest.mark.parametrize(
    "text", ["", "15", "15 minutes", "0s", "0.5s", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|neither|shorter|none"):
        rescan_from(text)


@pytest.mark.parametrize("text", ["*/0 * * * *", "5-1 * * * *", "a * * * *", "1- * * * *", "1,,2 * * * *"])
def test_broken_cron_fields_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cron line"):
        rescan_from(text)
