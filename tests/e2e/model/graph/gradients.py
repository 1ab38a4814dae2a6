"""Gradients of a LoRA against differences of the loss in numpy (oracle.py's mathematics, float64).

gradients.py make DIR SEED      draws small models, adapters and examples: DIR/<variant>/
gradients.py compare DIR        holds DIR/<variant>/learn.bin, which learn_cases wrote, against them
"""
import json
import pathlib
import sys

import numpy as np

import oracle

RANK, SCALE = 3, 1.5


def make(top, seed):
    oracle.make(top, seed)
    rng = np.random.default_rng(seed)
    for name in oracle.VARIANTS:
        folder = top / name
        c = oracle.with_defaults(json.loads((folder / "config.json").read_text()))
        examples = []
        for _ in range(3):
            length = int(rng.integers(4, 12))
            middle = int(rng.integers(2, length))
            examples.append({"tokens": [int(t) for t in rng.integers(0, 257, length)],
                             "trained": [[1, middle], [middle + 1, length]] if middle + 1 < length else [[1, middle]]})
        (folder / "learn.json").write_text(json.dumps({"rank": RANK, "scale": SCALE, "examples": examples}))
        count = sum(RANK * (rows + columns) for rows, columns in oracle.shapes(c).values()) * c["num_hidden_layers"]
        rng.normal(0, 0.3, count).astype("<f4").tofile(folder / "lora.bin")


def adapter(c, values):
    """What it adds to each weight, as oracle.logits() takes it."""
    out, at = {}, 0
    for layer in range(c["num_hidden_layers"]):
        for module, (rows, columns) in oracle.shapes(c).items():
            a = values[at:at + RANK * columns].reshape(RANK, columns)
            at += RANK * columns
            b = values[at:at + RANK * rows].reshape(rows, RANK)
            at += RANK * rows
            out[f"model.layers.{layer}.{module}"] = SCALE * b @ a
    return out


def loss(c, t, examples, values):
    out = 0.0
    for each in examples:
        rows = oracle.logits(c, t, each["tokens"], adapter(c, values))
        top = rows.max(axis=1, keepdims=True)
        log_p = rows - top - np.log(np.exp(rows - top).sum(axis=1, keepdims=True))
        out -= sum(log_p[i - 1, each["tokens"][i]] for begin, end in each["trained"] for i in range(begin, end))
    return out


def compare(top):
    failed = False
    rng = np.random.default_rng(1)
    for name in oracle.VARIANTS:
        folder = top / name
        c = oracle.with_defaults(json.loads((folder / "config.json").read_text()))
        t, examples = oracle.read_tensors(folder), json.loads((folder / "learn.json").read_text())["examples"]
        values = np.fromfile(folder / "lora.bin", "<f4").astype(np.float64)
        raw = (folder / "learn.bin").read_bytes()
        ours, gradient = np.frombuffer(raw[:8], "<f8")[0], np.frombuffer(raw[8:], "<f4").astype(np.float64)
        off = abs(ours / loss(c, t, examples, values) - 1)
        worst, step = 0.0, 1e-5
        for _ in range(12):
            along = rng.normal(0, 1, len(values)) * (rng.random(len(values)) < rng.choice([0.01, 1]))
            slope = (loss(c, t, examples, values + step * along) - loss(c, t, examples, values - step * along)) / (2 * step)
            worst = max(worst, abs(slope - along @ gradient) / (np.linalg.norm(along) * np.linalg.norm(gradient)))
        good = len(gradient) == len(values) and off < 1e-6 and worst < 3e-6
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {name}: loss {ours:.3f}, off by {off:.1e}; slopes off by {worst:.1e} of the gradient")
    return failed


if __name__ == "__main__":
    verb, place = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.exit(make(place, int(sys.argv[3])) if verb == "make" else compare(place))
