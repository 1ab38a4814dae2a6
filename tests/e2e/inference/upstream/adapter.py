#!/usr/bin/env python3
"""adapter.py DIR RANK [MORE_OF_THE_CONFIG]: a small PEFT adapter of zeros, put in place in one step."""
import json
import os
import shutil
import struct
import sys

directory, rank = sys.argv[1], int(sys.argv[2])
part = os.path.join(os.path.dirname(os.path.dirname(directory)), "part")  # outside of what is watched
os.makedirs(part)
config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": "base", "r": rank,
          "lora_alpha": 2 * rank, "lora_dropout": 0.0, "bias": "none", "fan_in_fan_out": False,
          "target_modules": ["q_proj"]}
config.update(json.loads(sys.argv[3]) if len(sys.argv) > 3 else {})
with open(part + "/adapter_config.json", "w", encoding="utf-8") as file:
    json.dump(config, file)
header, at = {}, 0
for name, shape in (("A", [rank, 8]), ("B", [8, rank])):
    size = 4 * shape[0] * shape[1]
    header[f"base_model.model.model.layers.0.self_attn.q_proj.lora_{name}.weight"] = {
        "dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
    at += size
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(part + "/adapter_model.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + bytes(at))
if os.path.exists(directory):
    shutil.rmtree(directory)
os.rename(part, directory)
