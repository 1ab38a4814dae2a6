"""What CPython's random and re say of drawn inputs, held against harness_cases."""
import json
import random
import re
import subprocess
import sys

PATTERNS = [r"#### (\-?[0-9\.\,]+)", r"(-?[$0-9.,]{2,})|(-?[0-9]+)", r"(\w+)$", r"\b([A-D])\b", r"a*", r"(a)|(b)?",
            r"(?i)answer is \(?([a-d])", r"[^\s]+", r"\s+", r"(?s)<a>(.*?)</a>", r"\d{1,3}(?:,\d{3})*", r"^\s*(\S)",
            r"(?m)^(\w+):", r"[]a-c]+", r"x{,2}y", r"\w+\Z", r"(?P<n>\d+) of (?P<m>\d+)",
            r"(?<=answer is )(.*)(?=.)", r"(?<=a)\w(?=[bA])", r"\d+(?=,)", r"(?<=x)x*"]
PIECES = ["a", "b", "A", " ", "\n", "#### 1,234.5", "-7", "$3.50", "answer is (C)", "é", "ß", "٣", "\u00a0", "<a>x\ny</a>",
          "x", "xxy", "]", "key: value", "3 of 4", ".", "1,000,000", "_", "日本"]
REPLACEMENTS = ["", "-", "<>", r"\1", "é"]


def cases(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        population = draw.choice([1, 2, 5, 21, 22, 84, 85, 86, 277, 278, 1000, 100000])
        yield {"seed": draw.choice([0, 1, 1234, 2**32 - 1, 2**32, 2**53, draw.getrandbits(40)]),
               "population": population, "count": draw.randint(0, min(population, 101)), "rounds": draw.randint(1, 8)}
        line = {"pattern": draw.choice(PATTERNS), "text": "".join(draw.choices(PIECES, k=draw.randint(0, 12)))}
        if r"\b" in line["pattern"]:  # RE2 knows the ends of ASCII words only
            line["text"] = line["text"].encode("ascii", "ignore").decode()
        if draw.random() < 0.3:
            line["replacement"] = draw.choice(REPLACEMENTS)
            if line["replacement"] == r"\1" and re.compile(line["pattern"]).groups == 0:
                line["replacement"] = "-"
        yield line


def expected(line):
    if "seed" in line:
        rnd = random.Random(line["seed"])
        drawn = [each for _ in range(line["rounds"]) for each in rnd.sample(range(line["population"]), line["count"])]
        return {"drawn": drawn, "then": rnd.random()}
    pattern = re.compile(line["pattern"])
    if "replacement" in line:
        return {"replaced": pattern.sub(line["replacement"], line["text"])}
    found = pattern.findall(line["text"])
    return {"found": [list(each) if isinstance(each, tuple) else [each] for each in found]}


def same(line, own, given):
    # A line end before the end of the text is a part of a match that "$" ends; filters strip it.
    if "found" in own and "$" in line["pattern"]:
        strip = lambda lists: [[each.strip() for each in one] for one in lists]
        return strip(own["found"]) == strip(given.get("found", []))
    if "replaced" in own and "$" in line["pattern"]:
        return own["replaced"].replace("\n", "") == given.get("replaced", "").replace("\n", "")
    return own == given


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    lines = list(cases(count, seed))
    text = "".join(json.dumps(each) + "\n" for each in lines)
    out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    assert len(out) == len(lines), f"{len(out)} answers to {len(lines)} lines"
    wrong = 0
    for line, answer in zip(lines, out):
        own, given = expected(line), json.loads(answer)
        if not same(line, own, given):
            wrong += 1
            if wrong <= 5:
                print(f"not ok {json.dumps(line)}: CPython says {json.dumps(own)}, we say {json.dumps(given)}")
    print(f"{'ok' if wrong == 0 else 'not ok'} {len(lines) - wrong} of {len(lines)} draws and patterns as CPython has them (seed {seed})")
    return 0 if wrong == 0 else 1


sys.exit(main())
