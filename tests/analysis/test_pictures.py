"""Pictures hold the numbers that the library and the page give, are drawn without a warning, and say what they need."""

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.explorer.in_node import node

import elmo
from elmo import Embedder, plot_mix, plot_similarity, plot_uses, similarity
from elmo.errors import ConfigError, MissingExtraError, TextError, TextWarning

pyplot = pytest.importorskip("matplotlib.pyplot")
PICTURE = Path(elmo.__file__).parent / "explorer" / "local" / "picture.js"
USES = ["the bank lent money", "a steep bank of the river", "the river bank and the other bank", "no bank at all"]
LABELS = ["money", "river", "river", "money"]
ROWS, PLACES = [0, 1, 2, 2, 3], [1, 2, 2, 6, 1]
WEIGHTS = [0.2, 0.5, 0.3]


@pytest.fixture(autouse=True)
def no_window():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def embedder(tiny_bilm) -> Embedder:
    return Embedder(tiny_bilm)


def points(axes) -> np.ndarray:
    """Those of the only label."""
    (collection,) = axes.collections
    return np.asarray(collection.get_offsets())


@pytest.mark.parametrize(("layers", "on_page"), [(0, 0), (1, 1), ("top", 2), (WEIGHTS, 3)])
def test_the_map_is_the_one_of_the_page(embedder, layers, on_page):
    arrays = embedder.embed(USES)
    vectors = np.stack([arrays[row][:, place] for row, place in zip(ROWS, PLACES, strict=True)], axis=1)
    vectors = np.concatenate([vectors, np.tensordot([WEIGHTS], vectors, 1)])
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    program = f"""
import {{ readFileSync }} from "node:fs";
import {{ pictures }} from "{PICTURE.as_uri()}";
console.log(JSON.stringify(pictures(JSON.parse(readFileSync(0)), 0)));
"""
    expected = node(program, vectors.tolist())[on_page]
    axes = plot_uses("bank", USES, embedder, layers=layers)
    np.testing.assert_allclose(points(axes), expected["points"], atol=1e-4)
    share = expected["variance"]
    assert axes.get_xlabel() == (
        "all uses have the same vector"
        if share is None
        else f"the two dimensions shown hold {share:.0%} of the variance"
    )


def test_each_label_has_its_points_and_each_point_its_sentence(embedder):
    axes = plot_uses("bank", USES, embedder, labels=LABELS)
    plain = points(plot_uses("bank", USES, embedder))
    shown = {one.get_label(): np.asarray(one.get_offsets()) for one in axes.collections}
    for label in ("money", "river"):
        np.testing.assert_array_equal(shown[label], plain[[LABELS[row] == label for row in ROWS]])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["money", "river"]
    numbers = {text.get_text(): text.xy for text in axes.texts}
    assert numbers.keys() == {"0", "1", "2", "3"} and numbers["3"] == pytest.approx(tuple(plain[4]))


def test_kept_boundaries_move_no_point(embedder, tiny_bilm):
    kept = Embedder(tiny_bilm, keep_boundaries=True)
    np.testing.assert_array_equal(points(plot_uses("bank", USES, kept)), points(plot_uses("bank", USES, embedder)))
    axes = plot_similarity("the bank", "a bank", kept)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["<S>", "the", "bank", "</S>"]
    assert axes.images[0].get_array().shape == (4, 4)


def test_each_cell_is_the_cosine_of_two_tokens(embedder):
    one, other = embedder.embed(USES[:2], layers="average")
    axes = plot_similarity(*USES[:2], embedder, layers="average")
    np.testing.assert_array_equal(axes.images[0].get_array(), similarity(one, other))
    assert [label.get_text() for label in axes.get_yticklabels()] == USES[0].split()
    assert [label.get_text() for label in axes.get_xticklabels()] == USES[1].split()
    assert axes.texts[7].get_text() == f"{similarity(one, other)[1, 1]:.2f}"


def test_bars_are_the_weights_of_the_mixes(tiny_bilm):
    torch = pytest.importorskip("torch")
    layer = elmo.ELMo(tiny_bilm, num_mixes=2)
    with torch.no_grad():
        layer.mixes[1].raw_weights += torch.tensor([1.0, 0.0, -1.0])
    mixes = layer.mix_weights()
    axes = plot_mix(mixes)
    for bars, mix in zip(axes.containers, mixes, strict=True):
        np.testing.assert_allclose([bar.get_height() for bar in bars], mix["weights"])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["γ = 1.00"] * 2
    assert [text.get_text() for text in plot_mix(mixes, names=["a", "b"]).get_legend().get_texts()] == ["a", "b"]


def test_weights_alone_are_one_mix_in_the_axes_that_are_given():
    _, ax = pyplot.subplots()
    assert plot_mix(WEIGHTS, ax=ax) is ax
    assert [bar.get_height() for bar in ax.containers[0]] == WEIGHTS


KOREAN = ["배를 타고 섬에 갔다", "배가 아프다", "배추를 먹었다"]


def test_korean_is_drawn_with_an_installed_font_and_found_with_its_particles(embedder):
    from matplotlib.font_manager import fontManager

    if not any("CJK" in font.name or "Nanum" in font.name for font in fontManager.ttflist):
        pytest.skip("no Korean font is installed")
    axes = plot_uses("배", KOREAN, embedder, labels=["탈것", "몸", "채소"])
    axes.set_title("배의 쓰임")
    axes.figure.canvas.draw()  # a letter without a font is a warning, and so an error
    assert len(axes.texts) == 2
    plot_similarity(*KOREAN[:2], embedder).figure.canvas.draw()


def test_without_a_font_it_is_said_which_letters_are_boxes(embedder, monkeypatch):
    from matplotlib.font_manager import fontManager

    monkeypatch.setattr(fontManager, "ttflist", [font for font in fontManager.ttflist if "DejaVu" in font.name])
    with pytest.warns(TextWarning, match="no installed font has '쁨쉼', so boxes .*apt install"):
        plot_similarity("쉼", "쁨", embedder)


@pytest.mark.parametrize(
    ("word", "settings", "error", "message"),
    [
        ("Bank", {}, TextError, "none of the 4 sentences has the token 'Bank'"),
        ("bank", {"labels": ["money"]}, ConfigError, "there are 4 sentences, but 1 labels"),
        ("bank", {"layers": "all"}, ConfigError, "layers is 'all', but a picture shows one vector"),
    ],
)
def test_what_makes_no_picture_is_refused(embedder, word, settings, error, message):
    with pytest.raises(error, match=message):
        plot_uses(word, USES, embedder, **settings)


def test_without_matplotlib_the_line_to_install_it_is_named(embedder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"plot_mix\(\) needs matplotlib.*pip install 'pyelmo\[plot\]'"):
        plot_mix(WEIGHTS)
