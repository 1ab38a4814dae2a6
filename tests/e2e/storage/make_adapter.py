#!/usr/bin/env python3
"""Writes LoRA adapters as PEFT saves them, good ones and bad ones, with nothing but the standard library.

make_adapter.py OUT.tar.gz [--rank N] [--base MODEL] [--megabytes N] [--fault NAME] [--seed N] [--level N]
"""
import argparse, gzip, io, json, os, random, struct, tarfile

FAULTS = ["rank", "nan", "cut", "overlap", "target", "link", "absolute", "dotdot", "nemo", "no-config", "dora",
          "bomb", "plain-tar", "pickle", "crc"]


def safetensors(tensors, lie=None):
    header, at, data = {}, 0, []
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        data.append(raw)
    if lie == "overlap":
        last = list(header)[-1]
        header[last]["data_offsets"] = [offset - 16 for offset in header[last]["data_offsets"]]
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--base", default="meta-llama/Llama-3.1-8B-Instruct")
    parser.add_argument("--megabytes", type=float, default=0)
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--folder", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", type=int, default=1, help="of gzip; 0 only wraps")
    args = parser.parse_args()
    source, rank = random.Random(args.seed), args.rank
    width, layers = 64, 2
    if args.megabytes:
        width = 4096
        layers = max(1, round(args.megabytes * 1e6 / (4 * 2 * width * rank)))

    def values(count):  # BF16 between 2^-8 and 2^-7: random, and never NaN
        raw = bytearray(source.randbytes(count * 2))
        raw[1::2] = bytes([0x3B]) * count
        return bytes(raw)

    tensors = {}
    for layer in range(layers):
        for module in ("q_proj", "v_proj"):
            name = f"base_model.model.model.layers.{layer}.self_attn.{module}"
            tensors[f"{name}.lora_A.weight"] = ("BF16", [rank, width], values(rank * width))
            tensors[f"{name}.lora_B.weight"] = ("BF16", [width, rank], values(rank * width))
    if args.fault == "nan":
        first = next(iter(tensors))
        dtype, shape, raw = tensors[first]
        tensors[first] = (dtype, shape, b"\xc0\x7f" + raw[2:])
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": args.base,
              "r": rank * 2 if args.fault == "rank" else rank, "lora_alpha": 16, "lora_dropout": 0.05, "bias": "none",
              "target_modules": ["k_proj"] if args.fault == "target" else ["q_proj", "v_proj"],
              "modules_to_save": None, "use_dora": args.fault == "dora"}
    weights = safetensors(tensors, args.fault)
    if args.fault == "cut":
        weights = weights[:-100]
    files = {"adapter_config.json": json.dumps(config, indent=2).encode(), "adapter_model.safetensors": weights,
             "README.md": b"# An adapter\n"}
    if args.fault == "no-config":
        del files["adapter_config.json"]
    if args.fault == "pickle":
        files["adapter_model.bin"] = b"\x80\x04."
    if args.fault == "nemo":
        files = {"model_config.yaml": b"x: 1\n", "model_weights.ckpt": b"x"}
    if args.fault == "bomb":
        files["zeros"] = bytes(200 << 20)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(args.folder + name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        if args.fault in ("link", "absolute", "dotdot"):
            entry = tarfile.TarInfo({"link": "link", "absolute": "/etc/cron.d/x", "dotdot": "../../x"}[args.fault])
            if args.fault == "link":
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(entry)
    data = packed.getvalue()
    if args.fault != "plain-tar":
        data = gzip.compress(data, args.level, mtime=0)
    if args.fault == "crc":
        data = data[:-8] + struct.pack("<I", 1) + data[-4:]
    with open(args.out, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


main()
