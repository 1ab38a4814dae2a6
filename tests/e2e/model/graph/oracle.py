"""The mathematics of the llama family in numpy, written apart from services/model/graph: float64, one sequence at a time,
no cache, one position after the other.

oracle.py make DIR SEED      draws small models, adapters and sequences: DIR/<variant>/
oracle.py compare DIR HOW    holds DIR/<variant>/logits.bin, which graph_cases wrote, against this mathematics
"""
import json
import pathlib
import struct
import sys

import numpy as np

MODULES = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
           "mlp.down_proj"]
VARIANTS = {
    "llama_gqa": dict(config=dict(model_type="llama", num_attention_heads=8, num_key_value_heads=2, hidden_size=64), type="F32"),
    "llama_biases_tied_llama3": dict(
        config=dict(model_type="llama", num_attention_heads=4, num_key_value_heads=4, hidden_size=40, attention_bias=True,
                    mlp_bias=True, tie_word_embeddings=True, rope_theta=500000.0,
                    rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                      original_max_position_embeddings=64)), type="F32"),
    "qwen2_bf16_shards": dict(config=dict(model_type="qwen2", num_attention_heads=6, num_key_value_heads=2, hidden_size=48,
                                          rms_norm_eps=1e-5), type="BF16", shards=3),
    "mistral_wide_heads_f16": dict(
        config=dict(model_type="mistral", num_attention_heads=3, num_key_value_heads=1, head_dim=32, hidden_size=36,
                    sliding_window=None, rope_scaling=dict(type="linear", factor=2.0)), type="F16"),
}


def shapes(c):
    d, h, g, w, f = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["intermediate_size"]
    return dict(zip(MODULES, [(h * w, d), (g * w, d), (g * w, d), (d, h * w), (f, d), (f, d), (d, f)]))


def biased(c, module):
    if c["model_type"] == "qwen2":
        return module[-6:] in ("q_proj", "k_proj", "v_proj")
    return c.get("attention_bias" if module.startswith("self") else "mlp_bias", False)


def draw_model(c, rng):
    tensors = {"model.embed_tokens.weight": rng.normal(0, 1, (c["vocab_size"], c["hidden_size"]))}
    for i in range(c["num_hidden_layers"]):
        path = f"model.layers.{i}."
        for module, (rows, columns) in shapes(c).items():
            tensors[path + module + ".weight"] = rng.normal(0, 1.5 / np.sqrt(columns), (rows, columns))
            if biased(c, module):
                tensors[path + module + ".bias"] = rng.normal(0, 0.3, rows)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            tensors[path + norm + ".weight"] = rng.normal(1, 0.2, c["hidden_size"])
    tensors["model.norm.weight"] = rng.normal(1, 0.2, c["hidden_size"])
    if not c.get("tie_word_embeddings"):
        tensors["lm_head.weight"] = rng.normal(0, 1, (c["vocab_size"], c["hidden_size"]))
    return tensors


def stored(values, kind):
    """The bytes of a tensor, and the numbers that they are."""
    single = values.astype("<f4")
    if kind == "F32":
        return single.tobytes(), single.astype(np.float64)
    if kind == "F16":
        half = single.astype("<f2")
        return half.tobytes(), half.astype(np.float64)
    upper = (single.view("<u4") >> 16).astype("<u2")
    return upper.tobytes(), (upper.astype("<u4") << 16).view("<f4").astype(np.float64)


def write_safetensors(path, tensors, kind):
    header, data, kept = {}, b"", {}
    for name, values in tensors.items():
        raw, kept[name] = stored(values, kind)
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)  # not padded: nothing promises that tensors are aligned
    return kept


def draw_adapter(c, rng, folder):
    """A PEFT directory: a rank of its own for each module, a type of its own for the file."""
    folder.mkdir(exist_ok=True)
    paths = {f"model.layers.{i}.{module}": shape for i in range(c["num_hidden_layers"]) for module, shape in shapes(c).items()}
    paths["lm_head"] = (c["vocab_size"], c["hidden_size"])
    ranks = {path: int(rng.choice([0, 1, 3, 8, 17])) for path in paths} | {"lm_head": 4}
    ranks = {path: rank for path, rank in ranks.items() if rank}
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 8, "lora_alpha": 3, "use_rslora": bool(rng.integers(2)),
              "rank_pattern": ranks, "alpha_pattern": {"o_proj": 2}, "target_modules": list(ranks),
              "base_model_name_or_path": "drawn"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    tensors = {}
    for path, rank in ranks.items():
        rows, columns = paths[path]
        tensors[f"base_model.model.{path}.lora_A.weight"] = rng.normal(0, 0.2, (rank, columns))
        tensors[f"base_model.model.{path}.lora_B.weight"] = rng.normal(0, 0.2, (rows, rank))
    write_safetensors(folder / "adapter_model.safetensors", tensors, str(rng.choice(["F32", "F16", "BF16"])))


def read_adapter(folder):
    """Path of a module to its whole difference of the weight."""
    config, tensors, out = json.loads((folder / "adapter_config.json").read_text()), read_tensors(folder), {}
    for name, a in tensors.items():
        if ".lora_A." not in name:
            continue
        path = name.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
        alpha = 2 if path.endswith("o_proj") else config["lora_alpha"]
        scale = alpha / (np.sqrt(len(a)) if config["use_rslora"] else len(a))
        out[path] = scale * tensors[name.replace("lora_A", "lora_B")] @ a
    return out


def make(top, seed):
    rng = np.random.default_rng(seed)
    for name, variant in VARIANTS.items():
        folder = top / name
        folder.mkdir(parents=True, exist_ok=True)
        c = dict(intermediate_size=int(rng.integers(30, 90)), num_hidden_layers=3, vocab_size=257, max_position_embeddings=256,
                 architectures=["X"], hidden_act="silu", eos_token_id=2) | variant["config"]
        c["architectures"] = [{"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "mistral": "MistralForCausalLM"}[c["model_type"]]]
        (folder / "config.json").write_text(json.dumps(c))
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
        (folder / "tokenizer_config.json").write_text("{}")
        full = with_defaults(c)
        tensors = draw_model(full, rng)
        count = variant.get("shards", 1)
        index = {}
        for i in range(count):
            part = dict(list(tensors.items())[i::count])
            file = "model.safetensors" if count == 1 else f"model-{i + 1:05}-of-{count:05}.safetensors"
            write_safetensors(folder / file, part, variant["type"])
            index |= dict.fromkeys(part, file)
        if count > 1:
            (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
        adapters = [f"adapter-{i}" for i in range(3)]
        for each in adapters:
            draw_adapter(full, rng, folder / each)
        sequences = []
        for _ in range(9):
            length = int(rng.choice([1, 2, 17, 40, 75]))
            tokens, chunks = [int(t) for t in rng.integers(0, 257, length)], []
            while sum(chunks) < length:
                chunks.append(int(min(rng.choice([1, 1, 2, 5, 33]), length - sum(chunks))))
            sequences.append({"tokens": tokens, "chunks": chunks, "adapter": int(rng.integers(-1, len(adapters)))})
        (folder / "cases.json").write_text(json.dumps({"adapters": adapters, "sequences": sequences}))


def byte_letters():
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [chr(b) for b in own] + [chr(256 + i) for i in range(256 - len(own))]


def tokenizer():
    letters = list(byte_letters())
    return {"version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}, "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "vocab": {c: i for i, c in enumerate(letters)}, "merges": []}}


def with_defaults(c):
    return dict(rms_norm_eps=1e-6, rope_theta=10000.0, head_dim=c["hidden_size"] // c["num_attention_heads"]) | c


def frequencies(c):
    out = []
    for j in range(c["head_dim"] // 2):
        f = 1.0 / c["rope_theta"]**(2 * j / c["head_dim"])
        scaling = c.get("rope_scaling") or {}
        kind = scaling.get("rope_type", scaling.get("type"))
        if kind == "linear":
            f /= scaling["factor"]
        elif kind == "llama3":
            old, low, high = scaling["original_max_position_embeddings"], scaling["low_freq_factor"], scaling["high_freq_factor"]
            turns = old * f / (2 * np.pi)
            if turns < low:
                f /= scaling["factor"]
            elif turns <= high:
                share = (turns - low) / (high - low)
                f = (1 - share) * f / scaling["factor"] + share * f
        out.append(f)
    return np.array(out)


def logits(c, t, tokens, adapter):
    def normed(x, name):
        return np.stack([t[name] * row / np.sqrt(np.mean(row * row) + c["rms_norm_eps"]) for row in x])

    def linear(x, layer, module):
        path = f"model.layers.{layer}.{module}"
        y = x @ t[path + ".weight"].T
        if path + ".bias" in t:
            y = y + t[path + ".bias"]
        return adapted(x, y, path)

    def adapted(x, y, path):
        return y + x @ adapter[path].T if path in adapter else y

    def rotated(x):
        half, out = c["head_dim"] // 2, x.copy()
        for p, row in enumerate(x):
            for head in range(row.shape[0]):
                for j, f in enumerate(frequencies(c)):
                    u, v = row[head, j], row[head, j + half]
                    out[p, head, j] = u * np.cos(p * f) - v * np.sin(p * f)
                    out[p, head, j + half] = v * np.cos(p * f) + u * np.sin(p * f)
        return out

    x = np.stack([t["model.embed_tokens.weight"][token] for token in tokens])
    n, heads, groups, width = len(tokens), c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    for i in range(c["num_hidden_layers"]):
        h = normed(x, f"model.layers.{i}.input_layernorm.weight")
        q = rotated(linear(h, i, "self_attn.q_proj").reshape(n, heads, width))
        k = rotated(linear(h, i, "self_attn.k_proj").reshape(n, groups, width))
        v = linear(h, i, "self_attn.v_proj").reshape(n, groups, width)
        mixed = np.zeros((n, heads, width))
        for p in range(n):
            for head in range(heads):
                of = head // (heads // groups)
                scores = np.array([q[p, head] @ k[s, of] for s in range(p + 1)]) / np.sqrt(width)
                weights = np.exp(scores - scores.max())
                mixed[p, head] = (weights / weights.sum()) @ v[:p + 1, of]
        x = x + linear(mixed.reshape(n, heads * width), i, "self_attn.o_proj")
        h = normed(x, f"model.layers.{i}.post_attention_layernorm.weight")
        gate = linear(h, i, "mlp.gate_proj")
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(h, i, "mlp.up_proj"), i, "mlp.down_proj")
    x = normed(x, "model.norm.weight")
    out = x @ t["model.embed_tokens.weight" if c.get("tie_word_embeddings") else "lm_head.weight"].T
    return adapted(x, out, "lm_head")


def read_tensors(folder):
    out = {}
    for file in folder.glob("*.safetensors"):
        raw = file.read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        for name, each in json.loads(raw[8:8 + size]).items():
            begin, end = each["data_offsets"]
            data = raw[8 + size + begin:8 + size + end]
            if each["dtype"] == "BF16":
                values = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
            else:
                values = np.frombuffer(data, {"F32": "<f4", "F16": "<f2"}[each["dtype"]])
            out[name] = values.astype(np.float64).reshape(each["shape"])
    return out


# The greatest difference by the greatest logit, and the differences' root mean square by the logits'. Float32 rounds at
# 6e-8, bfloat16 at 4e-3.
TOLERANCES = {"kernels": (5e-6, 3e-6), "tensors": (5e-6, 3e-6), "bfloat16": (0.2, 0.04)}


def compare(top, how):
    failed = False
    for name in VARIANTS:
        folder = top / name
        c = with_defaults(json.loads((folder / "config.json").read_text()))
        t, cases = read_tensors(folder), json.loads((folder / "cases.json").read_text())
        ours = np.frombuffer((folder / "logits.bin").read_bytes(), "<f4").reshape(-1, c["vocab_size"])
        adapters = [read_adapter(folder / each) for each in cases["adapters"]]
        row, worst, largest, squares, own_squares = 0, 0.0, 0.0, 0.0, 0.0
        for sequence in cases["sequences"]:
            adapter = adapters[sequence["adapter"]] if sequence["adapter"] >= 0 else {}
            expected = logits(c, t, sequence["tokens"], adapter)
            got = ours[row:row + len(expected)]
            row += len(expected)
            worst, largest = max(worst, np.abs(got - expected).max()), max(largest, np.abs(expected).max())
            squares, own_squares = squares + ((got - expected)**2).sum(), own_squares + (expected**2).sum()
        off = np.sqrt(squares / own_squares)
        good = row == len(ours) and largest > 1 and worst < TOLERANCES[how][0] * largest and off < TOLERANCES[how][1]
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {name}: {row} positions, logits up to {largest:.1f}, greatest difference {worst:.1e}, off by {off:.1e}")
    return failed


if __name__ == "__main__":
    verb, place = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.exit(make(place, int(sys.argv[3])) if verb == "make" else compare(place, sys.argv[3]))
