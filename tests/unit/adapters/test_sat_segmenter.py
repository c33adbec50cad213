"""SaT segmenters on a tiny model, through the real engines."""

import dataclasses
import json
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from ingestd.errors import AdapterUnavailable, ConfigurationError, TransientError
from ingestd.ports.segmenter import Loads
from ingestd_adapters import sat_tokens
from ingestd_adapters.onnx_device import ON_CPU, choose
from ingestd_adapters.sat_files import hub_cache
from ingestd_adapters.sat_segmenter import SatSegmenter, sat, sat_3l, sat_9l, sat_12l
from ingestd_adapters.sat_session import SatSession, begun
from tests.unit.adapters.tiny_sat import FLOAT, INT64, plain_logits, tiny_weights, write_model

COMMIT, OTHER_COMMIT = "0123456789abcdef" * 2 + "01234567", "f" * 40
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PUBLISHED = json.loads((Path(__file__).parents[2] / "data" / "sat" / "wtpsplit_lite.json").read_text(encoding="utf-8"))
TEXTS = [
    "a",
    "The one. See the end!",
    " \n The one.\r\n\r\nSee the end!  ",
    "\ud800 lone \udc00\ud800. See \udfff",
    "\0\0 nothing\0. See",
    f"{FAMILY * 40}. {FAMILY} ends.",
    "的是。日本語！" * 90,
    "one</s> <s>two <pad> <mask> <unk>",
    "see\rthe\rend",
    "The one sees the end, and then: nothing! " * 120,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("sat"))


@pytest.fixture(scope="module")
def segmenter(folder: Path) -> SatSegmenter:
    return sat_3l(model_dir=folder, device="cpu")


@pytest.fixture(scope="module")
def probable(folder: Path) -> SatSegmenter:
    return sat("sat-3l-sm", model_dir=folder, device="cpu")


def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commits: tuple[str, ...] = (COMMIT,)) -> Path:
    """Hub cache with the model in these revisions; the tokenizer in a repository of its own, as it is published."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    model, shared = tmp_path / "models--segment-any-text--sat-3l-sm", tmp_path / "models--facebookAI--xlm-roberta-base"
    for commit in commits:
        write_model(model / "snapshots" / commit, seed=len(commit) + ord(commit[0]))
        (model / "snapshots" / commit / "tokenizer.json").unlink()
    for repository, commit in ((model, commits[0]), (shared, OTHER_COMMIT)):
        (repository / "refs").mkdir(parents=True)
        (repository / "refs" / "main").write_text(commit)
    tokens = write_model(shared / "snapshots" / OTHER_COMMIT)
    (tokens / "model_optimized.onnx").unlink()
    return model


# ── the maths ────────────────────────────────────────────────────────────────────────────────────────────────────────


def slow_probabilities(folder: Path, text: str) -> list[float]:
    """The published maths, a token at a time, with the model's own computed in numpy."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    weights = tiny_weights(tokenizer.get_vocab_size(), 7, -0.5)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    count = len(encoding.ids)
    block = min(256, count)
    sums, weighed = [0.0] * count, [0.0] * count
    start = 0
    while True:
        first = start if start + block < count else count - block
        logits = plain_logits(weights, [0, *encoding.ids[first : first + block], 2])[1:-1]
        for place in range(block):
            x = -(1 - 1 / block) + place * 2 * (1 - 1 / block) / max(block - 1, 1)
            sums[first + place] += (1 - abs(x)) * logits[place]
            weighed[first + place] += 1 - abs(x)
        if start + block >= count:
            break
        start += 128
    found = [0.0] * len(text)
    for (_, end), total, weight in zip(encoding.offsets, sums, weighed, strict=True):
        if end > 0:
            found[end - 1] = 1 / (1 + np.exp(-total / weight))
    return found


@pytest.mark.parametrize("text", [text for text in TEXTS if not any("\ud800" <= c <= "\udfff" for c in text)])
def test_probabilities_are_those_of_the_slow_maths(folder: Path, probable: SatSegmenter, text: str) -> None:
    found = probable(text)
    assert found.shape == (len(text),)
    assert found.dtype == np.float64
    # Half precision sums: the last bit of a logit near 10 is 0.008.
    np.testing.assert_allclose(found, slow_probabilities(folder, text), atol=4e-3)


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: repr(case["text"][:20]))
def test_probabilities_are_those_that_wtpsplit_lite_gave(probable: SatSegmenter, case: dict[str, list[float]]) -> None:
    found = probable(str(case["text"]))
    assert np.flatnonzero(found).tolist() == case["characters"]
    np.testing.assert_allclose(found[found != 0], case["probabilities"], atol=2e-3)


def test_many_documents_at_once_give_what_each_gives_alone(probable: SatSegmenter) -> None:
    together = probable.predict_proba_batch([*TEXTS, "", " \n"])
    for text, found in zip([*TEXTS, "", " \n"], together, strict=True):
        np.testing.assert_allclose(found, probable(text), atol=4e-3)
    assert probable.predict_proba_batch([]) == []


def test_a_lone_surrogate_counts_as_one_character(probable: SatSegmenter) -> None:
    np.testing.assert_array_equal(probable("one \ud83d\udc69 end."), probable("one \ufffd\ufffd end."))


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", " ", "\n\n \r\n", *TEXTS])
def test_sentences_joined_are_the_text(segmenter: SatSegmenter, text: str) -> None:
    sentences = segmenter.split(text)
    assert "".join(sentences) == text
    assert all(sentences)
    assert len(sentences) == 1 or not any(sentence.isspace() for sentence in sentences)


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(["the ", "end. ", "\n", " ", "\ud800", "\0", FAMILY, "。", "</s>"]) | st.characters()
    ),
    times=st.sampled_from([1, 2, 60]),
)
def test_any_text_comes_back(segmenter: SatSegmenter, parts: list[str], times: int) -> None:
    text = "".join(parts) * times
    sentences = segmenter.split(text)
    assert "".join(sentences) == text
    assert all(sentences)


def test_a_sentence_ends_where_the_probability_is_over_the_threshold(folder: Path, probable: SatSegmenter) -> None:
    text = TEXTS[-1]
    chances = probable(text)
    for threshold in (0.1, 0.25, 0.9):
        made = sat_3l(model_dir=folder, threshold=threshold).split(text)
        ends = np.cumsum([len(sentence) for sentence in made])
        last = [end - 1 - (len(one) - len(one.rstrip())) for end, one in zip(ends, made, strict=True)]
        expected = set(np.flatnonzero(chances > threshold).tolist()) | {len(text.rstrip()) - 1}
        assert set(last) == expected


def test_white_space_goes_with_the_sentence_before_it(segmenter: SatSegmenter) -> None:
    made = segmenter.split("  The one.  \r\n\r\n See the end!\n")
    assert len(made) > 1
    assert all(sentence == sentence.lstrip() for sentence in made[1:])


@pytest.mark.parametrize(
    ("unit", "size"), [("abcdefgh", 2**20), ("The one sees the end. ", 2**18), ("\n", 2**18), ("的", 2**17)]
)
def test_a_long_line_comes_back(segmenter: SatSegmenter, unit: str, size: int) -> None:
    text = "x" + unit * (size // len(unit)) + "x"
    assert "".join(segmenter.split(text)) == text


def test_texts_cut_for_the_tokenizer_keep_their_tokens(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = sat_tokens.SatTokens(folder / "tokenizer.json")
    text = "The end,  and\u200b \u3000one \u0301 </s>\n\n see " * 50
    ids, ends = tokens.read(text)
    for size in (40, 61, 100):
        monkeypatch.setattr(sat_tokens, "_PIECE_CHARS", size)
        again, after = tokens.read(text)
        assert again.tolist() == ids.tolist()
        assert after.tolist() == ends.tolist()


def test_eight_threads_get_what_one_gets(folder: Path) -> None:
    expected = sat_3l(model_dir=folder).split(TEXTS[-1])
    shared, start = sat_3l(model_dir=folder), threading.Barrier(8)
    found: list[list[str]] = []

    def work() -> None:
        start.wait()
        found.append(shared.split(TEXTS[-1]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [expected] * 8


# ── identity and files ───────────────────────────────────────────────────────────────────────────────────────────────


def test_making_a_segmenter_reads_nothing(tmp_path: Path) -> None:
    for made in (sat_3l, sat_9l, sat_12l):
        made(model_dir=tmp_path / "absent", device="cuda")
    sat_3l()
    sat("sat-6l")


def test_the_identity_names_what_decides_the_sentences_and_no_more(folder: Path, tmp_path: Path) -> None:
    base = sat_3l(model_dir=folder)
    assert base.name.startswith("sat-3l/1+weights.")
    assert base.name.endswith("+threshold.0.25")
    copied = write_model(tmp_path / "copy")
    assert sat_3l(model_dir=copied, device="cuda", batch=3).name == base.name
    others = {
        sat_3l(model_dir=folder, threshold=0.5).name,
        sat_9l(model_dir=folder).name,
        sat_3l(model_dir=write_model(tmp_path / "other", seed=8)).name,
    }
    (copied / "tokenizer.json").write_text((copied / "tokenizer.json").read_text() + "\n")
    others.add(sat_3l(model_dir=copied).name)
    assert len(others | {base.name}) == 5


def test_weights_kept_in_a_second_file_are_part_of_the_identity(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    alone = sat_3l(model_dir=folder).name
    (folder / "model_optimized.onnx_data").write_bytes(b"1")
    assert sat_3l(model_dir=folder).name != alone


def test_loading_gives_the_device_and_may_be_repeated(segmenter: SatSegmenter) -> None:
    assert isinstance(segmenter, Loads)
    assert [segmenter.load(), segmenter.load()] == ["cpu", "cpu"]


@pytest.mark.parametrize("mask", [FLOAT, INT64])
def test_models_with_other_types_of_mask_run_too(tmp_path: Path, segmenter: SatSegmenter, mask: int) -> None:
    folder = write_model(tmp_path, mask=mask)
    assert sat_3l(model_dir=folder).split(TEXTS[-1]) == segmenter.split(TEXTS[-1])


@pytest.mark.parametrize("missing", ["model_optimized.onnx", "tokenizer.json"])
def test_a_missing_file_is_named_with_the_folder_and_the_way_out(tmp_path: Path, missing: str) -> None:
    folder = write_model(tmp_path)
    (folder / missing).unlink()
    for use in (lambda: sat_3l(model_dir=folder).name, sat_3l(model_dir=folder).load):
        with pytest.raises(AdapterUnavailable) as caught:
            use()
        assert f"{folder} does not hold {missing}" in str(caught.value)
        assert "hf download segment-any-text/sat-3l-sm" in str(caught.value)


def test_a_pinned_revision_comes_from_the_hubs_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached(tmp_path, monkeypatch, (COMMIT, OTHER_COMMIT))
    one, other = sat_3l(revision=COMMIT), sat_3l(revision=OTHER_COMMIT)
    assert one.load() == "cpu"
    assert one.name != other.name
    assert sat("sat-3l-sm", revision="main")("The end.").shape == (8,)


def test_what_the_cache_lacks_is_never_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = cached(tmp_path, monkeypatch)
    with pytest.raises(AdapterUnavailable, match=f"{model} does not hold revision {OTHER_COMMIT}.*hf download"):
        sat_3l(revision=OTHER_COMMIT).load()
    with pytest.raises(AdapterUnavailable, match=rf"segmenter_revision.*\({COMMIT}\)"):
        sat_3l().load()
    with pytest.raises(AdapterUnavailable, match=r"sat-9l-sm.* holds no revision"):
        sat_9l().load()
    with pytest.raises(AdapterUnavailable, match="sat-9l-sm does not hold revision main"):
        sat(revision="main")("one")


def test_a_missing_tokenizer_is_named_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached(tmp_path, monkeypatch)
    (tmp_path / "models--facebookAI--xlm-roberta-base" / "refs" / "main").write_text("not a commit")
    with pytest.raises(AdapterUnavailable, match=r"tokenizer.*hf download facebookAI/xlm-roberta-base"):
        sat_3l(revision=COMMIT).load()


def test_the_hubs_cache_is_where_its_own_tools_put_it() -> None:
    assert hub_cache({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}) == Path("/a")
    assert hub_cache({"HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}) == Path("/b/hub")
    assert hub_cache({"XDG_CACHE_HOME": "/c"}) == Path("/c/huggingface/hub")
    assert hub_cache({}) == Path.home() / ".cache/huggingface/hub"


def test_a_folder_beside_a_revision_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="keep one of them"):
        sat_3l(model_dir=folder, revision=COMMIT).load()


def test_files_that_changed_since_their_hash_was_taken_are_refused(tmp_path: Path) -> None:
    made = sat_3l(model_dir=write_model(tmp_path))
    assert made.name
    write_model(tmp_path, seed=9)
    with pytest.raises(ConfigurationError, match=r"weights of the segmenter 'sat-3l' changed.*start ingestd again"):
        made.load()


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "a", output="answers")
    with pytest.raises(ConfigurationError, match="is no SaT model"):
        sat_3l(model_dir=folder).load()
    (folder / "model_optimized.onnx").write_bytes(b"not a model")
    with pytest.raises(ConfigurationError, match="is no ONNX model"):
        sat_3l(model_dir=folder).load()
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="is no tokenizer"):
        sat_3l(model_dir=folder).load()
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordLevel", "vocab": {}, "unk_token": "x"}}))
    with pytest.raises(ConfigurationError, match="no token '<s>'"):
        sat_3l(model_dir=folder).load()


def test_a_model_that_gives_no_numbers_is_found_by_loading(tmp_path: Path) -> None:
    folder = write_model(tmp_path, bias=float("nan"))
    with pytest.raises(ConfigurationError, match="no numbers"):
        sat_3l(model_dir=folder).load()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "threshold 0.0"),
        ({"threshold": 1.0}, "threshold 1.0"),
        ({"threshold": float("nan")}, "threshold nan"),
        ({"batch": 0}, "batch 0"),
        ({"device": "tpu"}, "device 'tpu'"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, float | int | str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        sat_3l(**options)  # type: ignore[arg-type]  # each is of its own type
    with pytest.raises(ConfigurationError, match="not both"):
        sat(device="cpu", ort_providers=["CPUExecutionProvider"])


# ── devices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Failing:
    """A session of the engine that fails for more than some windows."""

    def __init__(self, session: SatSession, most: int, error: type[Exception]) -> None:
        self._session = session.session
        self._most = most
        self._error = error
        self.sizes: list[int] = []

    def run(self, outputs: list[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        self.sizes.append(len(inputs["input_ids"]))
        if self.sizes[-1] > self._most:
            raise self._error("failed to allocate memory" if self._error is ValueError else "device lost")
        found: list[np.ndarray] = self._session.run(outputs, inputs)
        return found


def failing(folder: Path, *, most: int, error: type[Exception], device: str) -> tuple[SatSegmenter, Failing]:
    made = sat_3l(model_dir=folder, batch=8)
    made.load()
    session = made._model._session
    assert session is not None
    broken = Failing(session, most, error)
    made._model._session = dataclasses.replace(session, session=broken, device=device)
    return made, broken


def engine_error() -> type[Exception]:
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail

    found: type[Exception] = Fail
    return found


def test_a_device_that_is_short_of_memory_gets_smaller_batches(folder: Path, segmenter: SatSegmenter) -> None:
    made, broken = failing(folder, most=2, error=ValueError, device="cuda:0")
    assert made.split(TEXTS[-1]) == segmenter.split(TEXTS[-1])
    assert {1, 2} & set(broken.sizes)
    assert made.load() == "cuda:0"


@pytest.mark.parametrize("out_of_memory", [True, False])
def test_a_gpu_that_fails_is_replaced_by_the_cpu_with_a_warning(
    folder: Path, segmenter: SatSegmenter, caplog: pytest.LogCaptureFixture, out_of_memory: bool
) -> None:
    made, _ = failing(folder, most=0, error=ValueError if out_of_memory else engine_error(), device="cuda:0")
    assert made.split(TEXTS[-1]) == segmenter.split(TEXTS[-1])
    assert made.load() == "cpu"
    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == ("WARNING", "segmenter.degraded")
    fields = vars(record)["ingestd_fields"]
    assert (fields["wanted"], fields["device"]) == ("cuda:0", "cpu")


def test_a_cpu_without_memory_is_tried_again_later_and_one_that_fails_is_told(folder: Path) -> None:
    made, _ = failing(folder, most=0, error=ValueError, device="cpu")
    with pytest.raises(TransientError, match="no memory"):
        made.split(TEXTS[-1])
    made, _ = failing(folder, most=0, error=engine_error(), device="cpu")
    with pytest.raises(ConfigurationError, match="device lost"):
        made.split(TEXTS[-1])


def loaded(folder: Path) -> SatSession:
    made = sat_3l(model_dir=folder)
    made.load()
    assert made._model._session is not None
    return made._model._session


def test_an_engine_without_the_gpu_asked_for_runs_on_the_cpu_with_a_warning(
    folder: Path, segmenter: SatSegmenter, caplog: pytest.LogCaptureFixture
) -> None:
    from onnxruntime import get_available_providers

    if "CUDAExecutionProvider" in get_available_providers():
        pytest.skip("this engine has the GPU")
    made = sat_3l(model_dir=folder, device="cuda")
    assert made.load() == "cpu"
    assert made.split(TEXTS[-1]) == segmenter.split(TEXTS[-1])
    assert [record.getMessage() for record in caplog.records] == ["segmenter.degraded"]
    assert not made.wants_batching()


@pytest.mark.parametrize("raises", [True, False])
def test_a_gpu_that_does_not_start_leaves_the_cpu_with_a_warning(
    folder: Path, caplog: pytest.LogCaptureFixture, raises: bool
) -> None:
    on_cpu, tried = loaded(folder), []

    def open_on(chosen):
        tried.append(chosen)
        if raises and chosen.beyond_cpu:
            raise RuntimeError("no driver")
        return on_cpu

    chosen = choose("auto", ["CUDAExecutionProvider", "CPUExecutionProvider"])
    assert begun("sat-3l", chosen, open_on) is on_cpu
    assert tried[0] is chosen
    assert tried[1:] == ([ON_CPU] if raises else [])
    (record,) = caplog.records
    assert record.getMessage() == "segmenter.degraded"
    assert vars(record)["ingestd_fields"]["wanted"] == "cuda"


def test_a_device_that_starts_is_no_degradation(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    on_gpu = dataclasses.replace(loaded(folder), device="cuda:0")
    chosen = choose("cuda", ["CUDAExecutionProvider", "CPUExecutionProvider"])
    assert begun("sat-3l", chosen, lambda _: on_gpu) is on_gpu
    assert begun("sat-3l", ON_CPU, lambda _: on_gpu) is on_gpu
    assert caplog.records == []


def test_providers_may_be_given_in_place_of_a_device(folder: Path, probable: SatSegmenter) -> None:
    made = sat(model_dir=folder, ort_providers=["CPUExecutionProvider"], ort_kwargs={"enable_fallback": 0})
    assert made(TEXTS[-1]).tolist() == probable(TEXTS[-1]).tolist()
    assert not made.wants_batching()
    assert sat(ort_providers=["TensorrtExecutionProvider", "CPUExecutionProvider"]).wants_batching()
