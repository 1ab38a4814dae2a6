# Published chat templates over drawn conversations: ours, Jinja2's and npm's Jinja.
#   conversations.py TEMPLATES.json PROGRAM NPM_FOLDER COUNT SEED
import json
import os
import random
import subprocess
import sys

TEXTS = ["", "Hello", "Bonjour é 😀", "  spaced \n", "a\n\nb", "<|im_start|>x", "日本語", "\"quoted\" 'single'", "</think>\nok",
         "<think>\nhm\n</think>\n\nanswer", "1 < 2 & 3", "\\n \t end"]
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "Weather of a place", "parameters": {
    "type": "object", "properties": {"place": {"type": "string", "description": "Ört"}, "days": {"type": "integer"}},
    "required": ["place"]}}}]


def call(dice):
    arguments = {"place": dice.choice(TEXTS), "days": dice.randrange(9)}
    return {"type": "function", "id": "call00001", "function": {
        "name": "get_weather", "arguments": arguments if dice.random() < 0.7 else json.dumps(arguments)}}


def content(dice):
    if dice.random() < 0.15:
        return [{"type": "text", "text": dice.choice(TEXTS)} for _ in range(dice.randrange(3))]
    return dice.choice(TEXTS)


def conversation(dice):
    messages = [{"role": "system", "content": content(dice)}] if dice.random() < 0.5 else []
    for turn in range(dice.randrange(5)):
        if dice.random() < 0.05:
            messages.append({"role": dice.choice(["tool", "other", "assistant"]), "content": content(dice)})
        messages.append({"role": "user", "content": content(dice)})
        if dice.random() < 0.25:
            message = {"role": "assistant", "tool_calls": [call(dice) for _ in range(dice.randrange(1, 3))]}
            if dice.random() < 0.7:
                message["content"] = dice.choice(TEXTS + [None])
            messages += [message, {"role": "tool", "content": content(dice), "name": "get_weather",
                                   "tool_call_id": "call00001"}]
        if dice.random() < 0.85 or turn == 0:
            messages.append({"role": "assistant", "content": content(dice)})
    out = {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": dice.random() < 0.5}
    if dice.random() < 0.3:
        out["tools"] = TOOLS
    if dice.random() < 0.2:
        out["enable_thinking"] = dice.random() < 0.5
    return out


def ask(command, lines, **more):
    out = subprocess.run(command, input="".join(line + "\n" for line in lines), capture_output=True, text=True,
                         check=True, encoding="utf-8", **more).stdout
    return [json.loads(line) for line in out.splitlines()]


def main():
    templates_file, program, npm, count, seed = sys.argv[1:]
    with open(templates_file, encoding="utf-8") as file:
        templates = json.load(file)
    dice = random.Random(int(seed))
    jobs = [(name, json.dumps({"template": source, "context": conversation(dice)}))
            for name, source in templates.items() for _ in range(int(count))]
    lines = [line for _, line in jobs]
    oracle = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jinja2_oracle.py")
    theirs = ask([sys.executable, oracle, "render"], lines)
    ours = ask([program], lines)
    node = ask(["node", "second_opinion.mjs"], lines, cwd=npm)
    wrong = {}
    apart = {}
    raised = rendered = agreed = 0
    for (name, line), want, got, other in zip(jobs, theirs, ours, node, strict=True):
        raised += want.get("kind") == "raised"
        rendered += "text" in want
        agreed += "text" in want and want.get("text") == other.get("text")
        same = want.get("text") == got.get("text") and (want.get("kind") == "raised") == (got.get("kind") == "raised")
        if same and want.get("kind") == "raised":
            same = want["fault"] == got["fault"]
        if not same:
            wrong.setdefault(name, (line, want, got))
        if want.get("text") != other.get("text"):
            apart[name] = apart.get(name, 0) + 1
    for name, (line, want, got) in wrong.items():
        print(f"not ok {name} renders as in Jinja2 (seed {seed})\n  job: {line}\n  Jinja2: {want}\n  ours: {got}")
    if not wrong:
        print(f"ok {len(templates)} published chat templates render {len(jobs)} conversations as Jinja2 does, "
              f"{rendered} to a text, {raised} refused by the template itself, the others faults (seed {seed})")
    print(f"{'ok' if agreed > rendered / 2 else 'not ok'} @huggingface/jinja agrees in {agreed} of {rendered} texts")
    print(f"# it differs from Jinja2 in text or in whether there is one in {sum(apart.values())}: "
          + ", ".join(f"{name} {number}" for name, number in sorted(apart.items())))
    sys.exit(1 if wrong or agreed <= rendered / 2 else 0)


if __name__ == "__main__":
    main()
