"""Products of vectors: exact for bytes, and more exact than sums in float16 everywhere."""

import numpy as np
import simsimd

from cortex.system.dot_products import products


def test_products_of_bytes_are_exact():
    rows = np.random.default_rng(1).integers(-127, 128, (300, 384), np.int8)
    assert products(rows[7], rows).tolist() == (rows.astype(int) @ rows[7].astype(int)).tolist()


def test_products_of_float16_are_summed_in_higher_precision_also_for_strided_rows():
    table = np.zeros(300, [("crc", "<u4"), ("vector", "<f2", 384)])
    table["vector"] = np.random.default_rng(2).standard_normal((300, 384)) / 384**0.5
    rows = table["vector"]
    exact = rows.astype(float) @ rows[7].astype(float)
    assert np.abs(products(rows[7], rows) - exact).max() < 1e-6
    capabilities = simsimd.get_capabilities()
    assert not capabilities["sapphire"]
    assert not capabilities["sve_f16"]


def test_no_rows_give_no_products():
    assert products(np.ones(4, np.float16), np.zeros((0, 4), np.float16)).tolist() == []
