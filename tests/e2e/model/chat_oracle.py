# Requests as chat_cases renders them, beside what vLLM and transformers make of them with Jinja2.
#   chat_oracle.py TEMPLATES.json PROGRAM COUNT SEED
import copy
import json
import os
import random
import re
import sys

JINJA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kit", "jinja", "oracle")
sys.path.insert(0, JINJA)
from conversations import ask, conversation  # noqa: E402

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
WORD = "q7needle"


def request(dice):
    """A drawn context as a client sends it: more nulls, arguments as a text."""
    context = conversation(dice)
    out = {key: context[key] for key in ("messages", "tools", "add_generation_prompt") if key in context}
    if "enable_thinking" in context:
        out["chat_template_kwargs"] = {"enable_thinking": context["enable_thinking"]}
    for message in out["messages"]:
        if dice.random() < 0.1:
            message["name"] = None
        if message["role"] == "user" and dice.random() < 0.1:
            message["tool_calls"] = None
    return out


def context(asked, form):
    """What apply_chat_template renders with. `form`: whether the template takes texts ("text"), both, or "parts" only."""
    messages = []
    for message in copy.deepcopy(asked["messages"]):
        content = message.pop("content", None)
        made = {key: value for key, value in message.items() if value is not None}
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
        if isinstance(content, str) and not content:
            parts = [{"type": "text", "text": ""}]
        as_parts = form == "parts" or (form == "both" and isinstance(content, list))
        made["content"] = parts if as_parts else "\n".join(part["text"] for part in parts)
        for each in made.get("tool_calls", []):
            if isinstance(each["function"]["arguments"], str):
                each["function"]["arguments"] = json.loads(each["function"]["arguments"])
        messages.append(made)
    return {**TOKENS, "messages": messages, "tools": asked.get("tools"), "documents": None,
            "add_generation_prompt": asked.get("add_generation_prompt", True), **asked.get("chat_template_kwargs", {})}


def rendered(jobs):
    return ask([sys.executable, os.path.join(JINJA, "jinja2_oracle.py"), "render"],
               [json.dumps({"template": source, "context": values}) for source, values in jobs])


def forms(templates):
    """Each template with one word as a text, and as a list of one part."""
    asked = {"messages": [{"role": "user", "content": WORD}]}
    out = rendered([(source, context(asked, form)) for source in templates.values() for form in ("text", "parts")])
    shows = [WORD in each.get("text", "") and "'type'" not in each["text"] and '"type"' not in each["text"] for each in out]
    return {name: "text" if not parts else "both" if text else "parts"
            for name, text, parts in zip(templates, shows[::2], shows[1::2], strict=True)}


def knows_tools(source):
    """Whether a tag, its texts apart, has the name."""
    tags = re.findall(r"\{[{%].*?[}%]\}", source, flags=re.S)
    return any(re.search(r"\btools\b", re.sub(r"'[^']*'|\"[^\"]*\"", "", tag)) for tag in tags)


def matches(asked, source, want, got):
    if asked.get("tools") and not knows_tools(source):
        return got.get("param") == "tools"
    if not asked["messages"]:
        return got.get("param") == "messages"
    if want.get("kind") == "raised":
        return got.get("message") == want["fault"]
    return want.get("text") == got.get("text")


def main():
    templates_file, program, count, seed = sys.argv[1:]
    with open(templates_file, encoding="utf-8") as file:
        templates = json.load(file)
    dice = random.Random(int(seed))
    form = forms(templates)
    jobs = [(name, request(dice)) for name in templates for _ in range(int(count))]
    theirs = rendered([(templates[name], context(asked, form[name])) for name, asked in jobs])
    ours = ask([program], [json.dumps({"template": templates[name], "request": asked}) for name, asked in jobs])
    wrong = {}
    for (name, asked), want, got in zip(jobs, theirs, ours, strict=True):
        if not matches(asked, templates[name], want, got):
            wrong.setdefault(name, (asked, want, got))
    for name, (asked, want, got) in wrong.items():
        print(f"not ok {name} (seed {seed})\n  request: {json.dumps(asked)}\n  Jinja2: {want}\n  ours: {got}")
    texts = sum("text" in got for got in ours)
    kinds = ", ".join(f"{list(form.values()).count(kind)} {kind}" for kind in ("text", "both", "parts"))
    if not wrong and texts > len(jobs) / 2:
        print(f"ok {len(jobs)} requests to {len(templates)} published chat templates ({kinds}) make the prompts that Jinja2 "
              f"makes, {texts} texts, the others refused (seed {seed})")
    elif not wrong:
        print(f"not ok most requests make a text: {texts} of {len(jobs)}")
    sys.exit(1 if wrong or texts <= len(jobs) / 2 else 0)


main()
