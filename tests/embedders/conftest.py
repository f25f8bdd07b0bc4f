"""A model that the tests write themselves: a table of words and one layer, in the files of a real
sentence-transformers model.
"""

import numpy as np
import orjson
import pytest

#: words that the model knows; all others have a vector near zero
WORDS = tuple("json decode document parse socket network tcp connect host hash password salt number".split())
#: length of its vectors
DIMENSIONS = 24
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def table() -> np.ndarray:
    """Return a separate direction for each word; special tokens are near zero."""
    turned, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((DIMENSIONS, DIMENSIONS)))
    rows = turned[: len(SPECIALS) + len(WORDS)]
    rows[: len(SPECIALS)] *= 0.01
    return rows.astype(np.float32)


def tokenizer() -> dict:
    vocabulary = {word: at for at, word in enumerate((*SPECIALS, *WORDS))}
    frame = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]  # fmt: skip
    special_tokens = {
        name: {"id": name, "ids": [vocabulary[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")
    }
    return {
        "version": "1.0",
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 128}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": frame, "pair": frame, "special_tokens": special_tokens},
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }  # fmt: skip


def network(inputs=("input_ids", "attention_mask", "token_type_ids"), output="last_hidden_state"):
    """Return last_hidden_state = tanh(table[input_ids]), [texts, tokens, DIMENSIONS], as bytes."""
    onnx = pytest.importorskip("onnx")
    make, kinds = onnx.helper, onnx.TensorProto
    graph = make.make_graph(
        [
            make.make_node("Gather", ["table", "input_ids"], ["found"]),
            make.make_node("Tanh", ["found"], [output]),
        ],
        "words",
        [make.make_tensor_value_info(name, kinds.INT64, ["texts", "tokens"]) for name in inputs],
        [make.make_tensor_value_info(output, kinds.FLOAT, ["texts", "tokens", DIMENSIONS])],
        [onnx.numpy_helper.from_array(table(), "table")],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


def write(folder, *, pooling="mean_tokens", tokens_max=64, model=None, **files):
    """Write the folder of a model; `files`: settings by file name without its ending."""
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(network() if model is None else model)
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()]
    settings = {
        "tokenizer": tokenizer(),
        "modules": modules,
        "1_Pooling/config": {"word_embedding_dimension": DIMENSIONS, f"pooling_mode_{pooling}": True},
        "sentence_bert_config": {"max_seq_length": tokens_max, "do_lower_case": False},
    } | files
    for name, content in settings.items():
        (folder / f"{name}.json").write_bytes(orjson.dumps(content))
    return folder


class Models:
    """The functions above, for tests."""

    words, dimensions = WORDS, DIMENSIONS
    network, table, write = map(staticmethod, (network, table, write))


@pytest.fixture(scope="session")
def models():
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    return Models
