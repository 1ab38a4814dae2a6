# Jinja2 as transformers sets it up (utils/chat_template_utils.py): what tests/kit/jinja compares with.
#   jinja2_oracle.py golden           cases.txt and context.json → golden.jsonl on stdout
#   jinja2_oracle.py render           JSON lines {"template", "context"} on stdin → {"text"} or {"fault"} on stdout
#   jinja2_oracle.py bench ROUNDS     microseconds of parsing and rendering the first line
import datetime
import json
import os
import sys
import time

import jinja2
import jinja2.ext
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_passed"), [], [], body).set_lineno(lineno)

    def _passed(self, caller):
        return caller()


class Raised(Exception):
    pass


def raise_exception(message):
    raise Raised(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    out = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    out.filters["tojson"] = tojson
    out.globals["raise_exception"] = raise_exception
    now = datetime.datetime(2024, 1, 31, 9, 8, 7)
    out.globals["strftime_now"] = now.strftime
    del out.globals["lipsum"]
    return out


def rendered(source, context):
    try:
        return {"text": environment().from_string(source).render(**context)}
    except Raised as raised:
        return {"fault": str(raised), "kind": "raised"}
    except jinja2.TemplateSyntaxError as fault:
        return {"fault": str(fault), "kind": "syntax"}
    except Exception as fault:  # whatever a template may raise
        kind = "undefined" if isinstance(fault, jinja2.UndefinedError) else "type"
        return {"fault": f"{type(fault).__name__}: {fault}", "kind": kind}


def golden(here):
    with open(os.path.join(here, "context.json"), encoding="utf-8") as file:
        context = json.load(file)
    with open(os.path.join(here, "cases.txt"), encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("# ")]
    for line in lines:
        for source in dict.fromkeys([line, *split(line)]):
            print(json.dumps({"template": source, **rendered(source, context)}, ensure_ascii=False))


def split(line):
    """Each expression of a line that has nothing else, as a case of its own."""
    parts = line.replace("\\n", "\n") if "{%" in line else line
    if "{%" in line or "{#" in line:
        return [parts]
    return ["{{" + part + "}}" for part in line[2:].rstrip("|").rstrip("}").rstrip().split("}} {{")] if "}} {{" in line else []


def bench(rounds):
    job = json.loads(sys.stdin.readline())
    env = environment()
    began = time.perf_counter()
    for _ in range(rounds):
        environment_cache_free = env.from_string(job["template"])
    parse = (time.perf_counter() - began) / rounds * 1e6
    began = time.perf_counter()
    for _ in range(rounds):
        environment_cache_free.render(**job["context"])
    print(json.dumps({"parse_us": parse, "render_us": (time.perf_counter() - began) / rounds * 1e6}))


if sys.argv[1] == "golden":
    golden(os.path.dirname(os.path.abspath(__file__)))
elif sys.argv[1] == "bench":
    bench(int(sys.argv[2]))
else:
    for text in sys.stdin:
        work = json.loads(text)
        print(json.dumps(rendered(work["template"], work["context"]), ensure_ascii=True), flush=True)
