"""metrics_oracle.py PROGRAM COUNT SEED: scores of drawn texts and rankings, compared with others' implementations."""
import collections
import json
import math
import random
import re
import string
import subprocess
import sys

try:
    from nltk.translate.bleu_score import SmoothingFunction, closest_ref_length, sentence_bleu
    from nltk.translate.chrf_score import chrf_precision_recall_fscore_support
except ImportError:
    SmoothingFunction = None
try:
    from sklearn.metrics import average_precision_score, ndcg_score
except ImportError:
    ndcg_score = None


def words_13a(text):
    """mteval-v13a's rules, one after the other; sacreBLEU drops the white space at the end before them."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, char in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, char)
    text = f" {text} "
    text = re.sub(r"([{-~[-` -&(-+:-@/])", r" \1 ", text)
    text = re.sub(r"([^0-9])([.,])", r"\1 \2 ", text)
    text = re.sub(r"([.,])([^0-9])", r" \1 \2", text)
    text = re.sub(r"([0-9])(-)", r"\1 \2 ", text)
    return text.split()


def runs(items, order):
    return collections.Counter(tuple(items[i:i + order]) for i in range(len(items) - order + 1))


def f_of(common, text, reference, beta=1):
    if common == 0:
        return 0.0
    precision, recall = common / text, common / reference
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def squad(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1(text, reference):
    text, reference = squad(text), squad(reference)
    if not text or not reference:
        return float(text == reference)
    return f_of((runs(text, 1) & runs(reference, 1)).total(), len(text), len(reference))


def rouge_words(text):
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).split()


def lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        previous = row
        row = [0]
        for j, y in enumerate(b):
            row.append(previous[j] + 1 if x == y else max(previous[j + 1], row[j]))
    return row[-1]


def rouge(text, reference):
    text, reference = rouge_words(text), rouge_words(reference)
    out = []
    for order in (1, 2, 3):
        a, b = runs(text, order), runs(reference, order)
        out.append(f_of((a & b).total(), a.total(), b.total()))
    return out + [f_of(lcs(text, reference), len(text), len(reference))]


def parted(text):
    """chrF++'s words: a mark at an end is one of its own."""
    out = []
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            out += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in string.punctuation:
            out += [word[0], word[1:]]
        else:
            out.append(word)
    return out


def chrf(text, reference, word_order):
    characters = ("".join(text.split()), "".join(reference.split()))
    tables = [(runs(characters[0], n), runs(characters[1], n)) for n in range(1, 7)]
    words = (parted(text), parted(reference))
    tables += [(runs(words[0], n), runs(words[1], n)) for n in range(1, word_order + 1)]
    tables = [(a, b) for a, b in tables if a and b]
    if not tables:
        return 0.0
    precision = sum((a & b).total() / a.total() for a, b in tables) / len(tables)
    recall = sum((a & b).total() / b.total() for a, b in tables) / len(tables)
    return 500 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


PIECES = ["the ", "cat", " a", "dog ", "an ", "mat", " ", "  ", ".", ",", "-", "3", "14", "$", "'s", "é", "中", "The ", "\n",
          "&amp;", "&quot;", "-\n", "İ", "ß", "_", "!", "\u00a0", "x", "sat ", "on ", "(", ")", "/", "ñ"]


def draw_text(dice, length):
    return "".join(dice.choice(PIECES) for _ in range(length))


def draw_pair(dice):
    text = draw_text(dice, dice.randrange(50))
    references = []
    for _ in range(dice.randrange(1, 4)):
        cut = dice.randrange(len(text) + 1)
        references.append(draw_text(dice, dice.randrange(12)) + text[cut:cut + dice.randrange(80)] + draw_text(dice, dice.randrange(12)))
    return {"text": text, "references": references}


def draw_ranking(dice):
    documents = [f"d{i}" for i in range(dice.randrange(2, 30))]
    scores = dice.sample(range(1000), len(documents))
    return {"run": dict(zip(documents, scores)), "qrels": {d: dice.choice([0, 0, 0, 1, 2, 3]) for d in documents},
            "k": dice.randrange(1, 12)}


class Checks:
    def __init__(self):
        self.counts, self.faults = collections.Counter(), {}

    def same(self, name, own, other, case):
        self.counts[name] += 1
        close = own == other if not isinstance(other, float) else math.isclose(own, other, rel_tol=1e-9, abs_tol=1e-9)
        if not close:
            self.faults.setdefault(name, f"{own} instead of {other}: {json.dumps(case)}")

    def report(self):
        for name, count in self.counts.items():
            print(f"not ok {name}: {self.faults[name]}" if name in self.faults else f"ok {name}: {count} comparisons")
        return 1 if self.faults else 0


def check_texts(checks, case, own):
    text, references = case["text"], case["references"]
    checks.same("words as mteval-v13a cuts them", own["words"], words_13a(text), case)
    checks.same("F1 as SQuAD's", own["f1"], max(f1(text, r) for r in references), case)
    best = [max(kinds) for kinds in zip(*(rouge(text, r) for r in references))]
    for kind, other, value in zip("1 2 3 L".split(), best, own["rouge"]):
        checks.same(f"ROUGE-{kind}", value, other, case)
    checks.same("chrF", own["chrf"], max(chrf(text, r, 0) for r in references), case)
    checks.same("chrF++", own["chrf++"], max(chrf(text, r, 2) for r in references), case)
    if SmoothingFunction is None:
        return
    # Shorter texts have orders without runs, which NLTK counts as one that is missed.
    tokens, others = words_13a(text), [words_13a(r) for r in references]
    if len(tokens) >= 4:
        checks.same("closest reference as NLTK's", own["reference_length"], closest_ref_length(others, len(tokens)), case)
        # Its method 3 halves as exponential smoothing does.
        other = 100 * float(sentence_bleu(others, tokens, smoothing_function=SmoothingFunction().method3))
        checks.same("BLEU as NLTK's", own["bleu"], other, case)
    first, plain = "".join(references[0].split()), "".join(text.split())
    for order in range(1, 7):
        if own["chrf_text"][order - 1] == 0 or own["chrf_reference"][order - 1] == 0:
            continue
        precision, recall, _, _ = chrf_precision_recall_fscore_support(first, plain, order, beta=2.0)
        matches = own["chrf_matches"][order - 1]
        if matches == 0:
            continue  # NLTK writes a small number
        checks.same("chrF's precision as NLTK's", matches / own["chrf_text"][order - 1], float(precision), case)
        checks.same("chrF's recall as NLTK's", matches / own["chrf_reference"][order - 1], float(recall), case)


def check_ranking(checks, case, own):
    gains = [case["qrels"][d] for d in case["run"]]
    if ndcg_score is None or not any(gains):
        return
    scores = list(case["run"].values())
    checks.same("nDCG as scikit-learn's", own["ndcg"], float(ndcg_score([gains], [scores], k=case["k"])), case)
    relevant = [int(g > 0) for g in gains]
    checks.same("average precision as scikit-learn's", own["map"], float(average_precision_score(relevant, scores)), case)


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if SmoothingFunction is None:
        print("skip BLEU and chrF against NLTK: install python3-nltk")
    if ndcg_score is None:
        print("skip rankings against scikit-learn: python3-sklearn is not there; its libboost-dev is at odds with the build's")
    dice = random.Random(seed)
    cases = [draw_pair(dice) if i % 2 else draw_ranking(dice) for i in range(count)]
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True, timeout=120).stdout
    checks = Checks()
    for case, line in zip(cases, out.splitlines(), strict=True):
        (check_ranking if "run" in case else check_texts)(checks, case, json.loads(line))
    sys.exit(checks.report())


main()
