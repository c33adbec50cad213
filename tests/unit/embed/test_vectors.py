import numpy as np
import pytest

from ingestd.embed.vectors import bad_rows, what_is_wrong


def rows(*norms):
    matrix = np.zeros((len(norms), 4), np.float32)
    matrix[:, 0] = norms
    return matrix


def test_unit_rows_are_good():
    assert bad_rows(rows(1, -1, 1.0005), rows=3, dimension=4) == ()


def test_rows_of_another_norm_are_named():
    assert bad_rows(rows(1, 0, 1, 1.01, 0.99), rows=5, dimension=4) == (1, 3, 4)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 3e38])
def test_a_row_with_a_number_that_is_not_finite_or_huge_is_named(number):
    matrix = rows(1, 1)
    matrix[1, 2] = number
    assert bad_rows(matrix, rows=2, dimension=4) == (1,)


@pytest.mark.parametrize("shape", [(2, 3), (1, 4), (3, 4), (8,)])
def test_every_row_of_another_shape_is_bad(shape):
    assert bad_rows(np.ones(shape, np.float32), rows=2, dimension=4) == (0, 1)


def test_every_row_of_another_type_is_bad():
    assert bad_rows(rows(1, 1).astype(np.float16), rows=2, dimension=4) == (0, 1)


def test_no_rows_are_no_fault():
    assert bad_rows(np.empty((0, 4), np.float32), rows=0, dimension=4) == ()


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((2, 4), np.float32), "shape (2, 4)"),
        (np.ones((1, 4), np.float64), "float64"),
        (np.full((1, 4), np.nan, np.float32), "4 of its 4 numbers are not finite"),
        (rows(2), "norm is 2, not 1"),
    ],
)
def test_what_is_wrong_is_said(matrix, words):
    assert words in what_is_wrong(matrix, dimension=4)
