#!/usr/bin/env python3
"""Convert the weights of a small BERT (all-MiniLM-L6-v2) to an int8 ONNX model of a quarter of
their size, for `cortex memory model install`.

    scripts/train/minilm_onnx.py FOLDER OUT

FOLDER has model.safetensors and config.json beside the tokenizer's files; OUT gets model.onnx and
copies of the others. The figures of memory with a model are measured with its result.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

#: version of ONNX's operators: the first with LayerNormalization
OPSET = 17


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Return name → float32 array of a safetensors file. Raises ValueError for other types."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    arrays = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name == "__metadata__" or entry["dtype"] == "I64":
            continue
        if entry["dtype"] != "F32":
            raise ValueError(f"{path}: {name} is {entry['dtype']}, where F32 is expected.")
        begin, end = (8 + size + at for at in entry["data_offsets"])
        arrays[name.removeprefix("bert.")] = np.frombuffer(raw[begin:end], np.float32).reshape(entry["shape"])
    return arrays


class Network:
    """The nodes and the constants of an ONNX graph under construction."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self._weights = weights

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operation and return the name of its output."""
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.array(value, dtype)
        return name

    def weight(self, name: str, *, turned: bool = False) -> str:
        """Add a weight as a constant, transposed for a product from the right."""
        array = self._weights[name]
        self.constants[name] = np.ascontiguousarray(array.T) if turned else array
        return name

    def linear(self, value: str, name: str) -> str:
        product = self.add("MatMul", value, self.weight(f"{name}.weight", turned=True))
        return self.add("Add", product, self.weight(f"{name}.bias"))

    def normalise(self, value: str, name: str, epsilon: float) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", value, scale, shift, axis=-1, epsilon=epsilon)

    def gelu(self, value: str) -> str:
        error = self.add("Erf", self.add("Div", value, self.constant(np.sqrt(2.0))))
        halved = self.add("Mul", value, self.constant(0.5))
        return self.add("Mul", halved, self.add("Add", error, self.constant(1.0)))


def build(weights: dict[str, np.ndarray], config: dict[str, Any]) -> Any:
    """Build the graph: (input_ids, attention_mask, token_type_ids), i64 [texts, tokens] →
    last_hidden_state, f32 [texts, tokens, hidden_size].
    """
    net, epsilon = Network(weights), config["layer_norm_eps"]
    heads = config["num_attention_heads"]
    width = config["hidden_size"] // heads
    split, joined = net.constant([0, 0, heads, width], np.int64), net.constant([0, 0, -1], np.int64)
    shape = net.add("Shape", "input_ids")
    count = net.add("Gather", shape, net.constant(1, np.int64))
    places = net.add("Range", net.constant(0, np.int64), count, net.constant(1, np.int64))
    value = net.add("Gather", net.weight("embeddings.word_embeddings.weight"), "input_ids")
    value = net.add(
        "Add", value, net.add("Gather", net.weight("embeddings.position_embeddings.weight"), places)
    )
    value = net.add(
        "Add",
        value,
        net.add("Gather", net.weight("embeddings.token_type_embeddings.weight"), "token_type_ids"),
    )
    value = net.normalise(value, "embeddings.LayerNorm", epsilon)
    mask = net.add(
        "Cast", net.add("Unsqueeze", "attention_mask", net.constant([1, 2], np.int64)), to=TensorProto.FLOAT
    )
    hidden = net.add("Mul", net.add("Sub", net.constant(1.0), mask), net.constant(-10_000.0))
    for layer in range(config["num_hidden_layers"]):
        base = f"encoder.layer.{layer}"
        parts = []
        for part, order in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3))):
            flat = net.linear(value, f"{base}.attention.self.{part}")
            parts.append(net.add("Transpose", net.add("Reshape", flat, split), perm=order))
        scores = net.add("Div", net.add("MatMul", parts[0], parts[1]), net.constant(np.sqrt(width)))
        shares = net.add("Softmax", net.add("Add", scores, hidden), axis=-1)
        attended = net.add("Transpose", net.add("MatMul", shares, parts[2]), perm=(0, 2, 1, 3))
        attended = net.linear(net.add("Reshape", attended, joined), f"{base}.attention.output.dense")
        value = net.normalise(net.add("Add", attended, value), f"{base}.attention.output.LayerNorm", epsilon)
        wide = net.gelu(net.linear(value, f"{base}.intermediate.dense"))
        value = net.normalise(
            net.add("Add", net.linear(wide, f"{base}.output.dense"), value),
            f"{base}.output.LayerNorm",
            epsilon,
        )
    net.nodes.append(helper.make_node("Identity", [value], ["last_hidden_state"]))
    graph = helper.make_graph(
        net.nodes,
        "bert",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", config["hidden_size"]]
            )
        ],
        [numpy_helper.from_array(array, name) for name, array in net.constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    weights = options.folder / "model.safetensors"
    model = build(read_weights(weights), json.loads((options.folder / "config.json").read_text()))
    onnx.checker.check_model(model)
    ignored = shutil.ignore_patterns("*.safetensors", "*.md", ".*", "*.txt")
    shutil.copytree(options.folder, options.out, ignore=ignored, dirs_exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, Path(folder) / "model.onnx")
        quantize_dynamic(
            Path(folder) / "model.onnx",
            options.out / "model.onnx",
            per_channel=True,
            reduce_range=True,  # older processors overflow with all eight bits
            weight_type=QuantType.QInt8,
        )


if __name__ == "__main__":
    main()
