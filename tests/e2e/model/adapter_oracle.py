# Drawn adapters as adapter_cases reads them, beside which modules PEFT would change, and how much. Written from PEFT's
# documentation of LoraConfig, with Python's own expressions.
#   adapter_oracle.py PROGRAM COUNT SEED
import json
import math
import random
import re
import subprocess
import sys

WIDTHS = {"self_attn.q_proj": (8, 24), "self_attn.k_proj": (8, 12), "self_attn.v_proj": (8, 12),
          "self_attn.o_proj": (24, 8), "mlp.gate_proj": (8, 12), "mlp.up_proj": (8, 12), "mlp.down_proj": (12, 8)}
MODULES = {f"model.layers.{layer}.{name}": width for layer in range(3) for name, width in WIDTHS.items()}
MODULES["lm_head"] = (8, 30)
NAMES = ["q_proj", "v_proj", "self_attn.k_proj", "up_proj", "down_proj", "lm_head", "layers.1.mlp.gate_proj", "_proj",
         "model.layers.2.self_attn.o_proj"]
EXPRESSIONS = [r".*\.[02]\.self_attn\.(q|k)_proj", r".*_proj", r"model\.layers\.\d+\.mlp\.(up|down)_proj", r".*head",
               r"(?:model\.)?layers\.1\..*", r".*\.(1|2)\.[a-z_]+\.v_proj$", r"q_proj", r"[^.]+"]
KEYS = NAMES + EXPRESSIONS + ["proj", "layers.0", r"mlp\..*", r"1\.self_attn\.\w+", r"(q|v)_proj", "head", r".*"]


def ends_with(module, names):
    return any(module == name or module.endswith("." + name) for name in names)


def is_target(config, module):
    left_out, wanted, layers = (config.get(key) for key in ("exclude_modules", "target_modules", "layers_to_transform"))
    if left_out and (re.fullmatch(left_out, module) if isinstance(left_out, str) else ends_with(module, left_out)):
        return False
    if wanted == "all-linear":
        return module != "lm_head"
    if isinstance(wanted, str):
        return re.fullmatch(wanted, module) is not None
    if module in wanted:
        return True
    if not ends_with(module, wanted):
        return False
    if layers is None or layers == []:
        return True
    layer = re.match(r".*\.layers\.(\d+)\.", module)
    return layer is not None and int(layer[1]) in (layers if isinstance(layers, list) else [layers])


def looked_up(pattern, module, usual):
    return next((value for key, value in pattern.items() if re.match(rf"(.*\.)?({key})$", module)), usual)


def drawn_config(dice):
    names = dice.sample(NAMES, dice.randrange(1, 5))
    config = {"peft_type": "LORA", "r": dice.choice([1, 4, 7]), "lora_alpha": dice.choice([1, 8, 16.5]),
              "target_modules": dice.choice([names, names, dice.choice(EXPRESSIONS), "all-linear"]),
              "use_rslora": dice.random() < 0.5}
    if dice.random() < 0.3:
        config["exclude_modules"] = dice.choice([dice.sample(NAMES, 2), dice.choice(EXPRESSIONS), [], None])
    if dice.random() < 0.3 and isinstance(config["target_modules"], list):
        config["layers_to_transform"] = dice.choice([None, [], 1, [0, 2]])
    for field, values in (("rank_pattern", [1, 2, 16]), ("alpha_pattern", [0.5, 4, 32])):
        if dice.random() < 0.6:
            config[field] = {key: dice.choice(values) for key in dice.sample(KEYS, dice.randrange(4))}
    return config


def drawn(dice):
    """A configuration, its tensors, and the modules with rank and scale; None for those where the two do not agree."""
    config = drawn_config(dice)
    modules = {}
    for module in MODULES:
        rank = looked_up(config.get("rank_pattern", {}), module, config["r"])
        alpha = looked_up(config.get("alpha_pattern", {}), module, config["lora_alpha"])
        if is_target(config, module):
            modules[module] = [rank, alpha / (math.sqrt(rank) if config["use_rslora"] else rank)]
    held = {module: rank for module, (rank, _) in modules.items()}
    agree = bool(held)
    others = [module for module in MODULES if module not in held]
    if dice.random() < 0.2 and others:
        held[dice.choice(others)] = config["r"]
        agree = False
    elif dice.random() < 0.2 and held:
        held[dice.choice(list(held))] += 1
        agree = False
    tensors = {}
    for module, rank in held.items():
        width_in, width_out = MODULES[module]
        tensors[f"base_model.model.{module}.lora_A.weight"] = [rank, width_in]
        tensors[f"base_model.model.{module}.lora_B.weight"] = [width_out, rank]
    return {"config": json.dumps(config), "tensors": tensors}, modules if agree else None


def same(want, got):
    if want is None:
        return bool(got.get("errors"))
    have = got.get("modules", {})
    return want.keys() == have.keys() and all(
        want[name][0] == have[name][0] and math.isclose(want[name][1], have[name][1]) for name in want)


def main():
    program, count, seed = sys.argv[1:]
    dice = random.Random(int(seed))
    cases = [drawn(dice) for _ in range(int(count))]
    lines = "".join(json.dumps(job) + "\n" for job, _ in cases)
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    wrong = [(job, want, got) for (job, want), got in zip(cases, map(json.loads, out.splitlines()), strict=True)
             if not same(want, got)]
    for job, want, got in wrong[:5]:
        print(f"not ok seed {seed}\n  adapter: {json.dumps(job)}\n  PEFT: {want}\n  ours: {got}")
    refused = sum(want is None for _, want in cases)
    if not wrong:
        print(f"ok {len(cases)} drawn adapters change the modules that PEFT changes, with its scales; {refused} of them "
              f"refused (seed {seed})")
    sys.exit(1 if wrong else 0)


main()
