"""word2vec's sums as AVX-512 rounds them: in the order that is written down, and as OpenBLAS where it has AVX-512."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "scripts" / "avx512_sums.c"
LENGTHS = (1, 4, 31, 32, 36, 63, 64, 96, 100, 128, 300)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> ctypes.CDLL:
    flags = Path("/proc/cpuinfo").read_text().split() if sys.platform == "linux" else []
    if shutil.which("gcc") is None or not {"avx2", "fma"} <= set(flags):
        pytest.skip("needs gcc and a processor with AVX2")
    built = tmp_path_factory.mktemp("sums") / "avx512_sums.so"
    options = ["-O2", "-mavx2", "-mfma", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *options, SOURCE, "-o", built], check=True)
    return ctypes.CDLL(str(built))


def exact_factors(random: np.random.Generator, length: int) -> np.ndarray:
    """Numbers of ten bits and many magnitudes: a product of two is exact, so that the order of the sums decides."""
    return (random.integers(-1023, 1024, length) * 2.0 ** random.integers(-12, 13, length)).astype(np.float32)


def called(function, *arguments):
    """As Fortran calls it: numbers by address, and a step of 1 after each vector."""
    given = []
    for one in arguments:
        if isinstance(one, np.ndarray):
            given += [one.ctypes.data_as(ctypes.c_void_p), ctypes.byref(ctypes.c_int(1))]
        else:
            given.append(ctypes.byref(one))
    return function(*given)


def dot(library: ctypes.CDLL, x: np.ndarray, y: np.ndarray) -> float:
    library.scipy_sdot_.restype = ctypes.c_float
    return called(library.scipy_sdot_, ctypes.c_int(len(x)), x, y)


def in_order(products: np.ndarray) -> np.float32:
    """The sum of float32 products: sixteen lanes of four registers, folded to eight lanes, then to one; the rest in
    double precision."""
    whole, half = len(products) // 32 * 32, len(products) // 64 * 64
    sums = np.zeros((4, 16), np.float32)
    for block in products[:half].reshape(-1, 4, 16):
        sums += block
    folded = sums[:, :8] + sums[:, 8:]
    for block in products[half:whole].reshape(-1, 4, 8):
        folded += block
    eight = folded[0] + folded[1] + folded[2] + folded[3]
    four = eight[:4] + eight[4:]
    rest = np.float64(0)
    for product in products[whole:]:
        rest += np.float64(product)
    return np.float32(rest + np.float64((four[0] + four[1]) + (four[2] + four[3])))


@pytest.mark.parametrize("length", LENGTHS)
def test_a_dot_product_is_added_in_the_order_of_avx512(library, length):
    random = np.random.default_rng(length)
    for _ in range(50):
        x, y = exact_factors(random, length), exact_factors(random, length)
        assert dot(library, x, y) == in_order(x * y)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_multiple_is_added_with_one_rounding(library, length):
    random = np.random.default_rng(length)
    x, y = random.standard_normal((2, length)).astype(np.float32)
    alpha = np.float32(random.standard_normal())
    # The product is exact in double precision, and its sum with y is rounded so finely there that only a tie of two
    # float32 numbers could be rounded another way.
    expected = (np.float64(alpha) * x + y).astype(np.float32)
    called(library.scipy_saxpy_, ctypes.c_int(length), ctypes.c_float(alpha), x, y)
    np.testing.assert_array_equal(y, expected)


def test_openblas_has_the_same_bits_on_a_processor_with_avx512(library):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    blas = pytest.importorskip("scipy.linalg.blas")
    kernels = [one.get("architecture") for one in threadpoolctl.threadpool_info() if "scipy" in one["filepath"]]
    if not {"SkylakeX", "Cooperlake", "SapphireRapids"} & set(kernels):
        pytest.skip("OpenBLAS uses other kernels here")
    random = np.random.default_rng(0)
    for length in LENGTHS:
        x, y = random.standard_normal((2, length)).astype(np.float32)
        assert dot(library, x, y) == blas.sdot(x, y)
        ours = y.copy()
        called(library.scipy_saxpy_, ctypes.c_int(length), ctypes.c_float(0.3), x, ours)
        np.testing.assert_array_equal(ours, blas.saxpy(x, y.copy(), a=np.float32(0.3)))
