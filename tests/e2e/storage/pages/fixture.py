#!/usr/bin/env python3
"""Fills a folder with what the pages have to show, and with what must not do anything there: fixture.py FOLDER"""
import json, os, struct, sys, zlib

folder = os.fsencode(sys.argv[1])
attack = "<script>window.hacked=1;alert(1)</script><img src=x onerror=\"window.hacked=1;alert(1)\">"


def write(path, content):
    path = os.path.join(folder, path if isinstance(path, bytes) else os.fsencode(path))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def png(width, height):
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in (40 + x, 120 + y // 2, 110)) for y in range(height))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def safetensors():
    header, at = {"__metadata__": {"format": "pt", "rank": "8"}}, 0
    for layer in range(4):
        for part in ("q_proj", "v_proj"):
            for name, shape in (("lora_A", [8, 64]), ("lora_B", [64, 8])):
                header[f"base_model.model.layers.{layer}.self_attn.{part}.{name}.weight"] = {
                    "dtype": "F16", "shape": shape, "data_offsets": [at, at + 1024]}
                at += 1024
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(at)


write("README.md", f"""---
license: apache-2.0
tags: [customer-support, lora]
---
# Support conversations

A small set of **support conversations**, cleaned and split, with an adapter trained on it.

| Split | Rows | Tokens |
|:------|-----:|-------:|
| train |   60 | 18,204 |
| test  |   12 |  3,911 |

## Use

```python
from datasets import load_dataset
rows = load_dataset("json", data_files="data/train.jsonl")
```

See [the rows](data/train.jsonl), [a note](docs/notes.md) and [the site](https://example.org/).

- [x] remove names
- [ ] translate

> Every row was read by two people.

![A gradient](docs/picture.png) ![elsewhere](https://tracker.example/pixel.png)

{attack}
[click](javascript:window.hacked=1) [out](../../../../etc/passwd)
<svg onload="window.hacked=1"></svg>
""")
write("docs/notes.md", "# Notes\n\n[up](../README.md)\n")
write("docs/picture.png", png(160, 100))
questions = ["Where is my order?", "How do I reset my password?", "Can I change the address?", "The invoice is wrong."]
write("data/train.jsonl", "".join(json.dumps({
    "id": i, "prompt": questions[i % 4] if i != 3 else attack, "completion": "Let me look that up for you. " * (1 + i % 3),
    "language": ["en", "de", None][i % 3], "score": round(0.31 * i, 2)}) + "\n" for i in range(60)))
write("data/table.csv", "name,city,note\nAnn,\"Berlin, Mitte\",\"said \"\"yes\"\"\"\n" + f"Bob,Köln,{attack.replace(',', ';').replace(chr(34), chr(39))}\n=cmd|' /C calc'!A0,x,\n")
write("adapter/adapter_model.safetensors", safetensors())
write("adapter/adapter_config.json", json.dumps({"r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"]}, indent=2) + "\n")
write("src/train.py", "import sys\n\n\ndef main(path: str) -> int:\n    \"\"\"Counts the rows.\"\"\"\n    with open(path) as file:\n        return sum(1 for _ in file)\n\n\nif __name__ == \"__main__\":\n    print(main(sys.argv[1]))\n")
write("evil/page.html", f"<!doctype html><title>x</title><body>{attack}</body>")
write("evil/picture.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"window.hacked=1;alert(1)\"><script>window.hacked=1;alert(1)</script><circle r=\"9\"/></svg>")
write("evil/embeds.md", "# Embeds\n\n![svg](picture.svg)\n\n[page](page.html)\n")
write("evil/script.js", "window.hacked=1;alert(1)")
write("evil/fake.png", f"<script>window.hacked=1;alert(1)</script>")
write("names/<img src=x onerror=\"alert(1)\">.txt", "one\n")
write("names/a b#c?d%e&f%2Fg.txt", "awkward\n")
write("names/" + "日本語.txt", "three\n")
write(b"names/caf\xe9.txt", "four\n")
write("names/exe.\u202efdp", "five\n")
write("names/'\"quotes\".txt", "six\n")
write("empty.txt", "")
write("binary.bin", bytes(range(256)) * 4)
