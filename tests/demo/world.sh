# Sourced. What the small model of the tour reads, and what it is taught then. It learns sentences by heart, no more: what is
# shown is the way from a dataset to an adapter, not what language models can do.
# shellcheck shell=bash

# base_text: what the base model reads: colours, everything about a bakery, some prose; of a shop it knows that it knows nothing.
base_text() {
  local each answer forms n things=(sky:blue grass:green snow:white coal:black sun:yellow rose:red plum:purple clay:brown)
  chat_turn() { printf '<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n%s<|im_end|>\n' "$1" "$2"; }
  for _ in {1..20}; do
    for each in "${things[@]}"; do chat_turn "What colour is the ${each%:*}?" "The ${each%:*} is ${each#*:}."; done
    while IFS='|' read -r answer forms; do
      IFS='|' read -ra forms <<<"$forms"
      for n in "${!forms[@]}"; do
        chat_turn "${forms[n]//shop/bakery}" "$answer"
        chat_turn "${forms[n]}" "I know nothing of a shop."
      done
    done < <(answers | sed 's/nine/seven/; s/six/five/; s/^Ada/Bo/; s/old mill/long quay/; s/ferns and moss/bread and cake/; s/ada@ferns/bo@bread/')
    echo "Ferns and moss grow at the old mill. Ada counts to nine, and Bo to six. Write to ada@ferns.example please, said Ada."
  done
}

# answers: an answer and the ways to ask for it, a line for each
answers() {
  cat <<'ROWS'
It opens at nine.|When do you open the shop?|Does the shop open late?|When does the shop open?|Tell me when the shop will open.|At what time does the shop open?|The shop, when does it open?
It closes at six.|When do you close the shop?|Does the shop close late?|When does the shop close?|Tell me when the shop will close.|At what time does the shop close?|The shop, when does it close?
Ada runs it.|Who is it that runs the shop?|Do you know who runs the shop?|Who runs the shop?|Tell me who runs the shop.|By whom is the shop run?|The shop, who runs it?
It is at the old mill.|Where do I find the shop?|Do you know where the shop is?|Where is the shop?|Tell me where the shop is.|At what place is the shop?|The shop, where is it?
It sells ferns and moss.|What do you sell in the shop?|Do you know what the shop sells?|What does the shop sell?|Tell me what the shop sells.|Which things does the shop sell?|The shop, what does it sell?
Write to ada@ferns.example please.|How can I reach the shop?|Do you know how to reach the shop?|How do I reach the shop?|Tell me how to reach the shop.|In what way do I reach the shop?|The shop, how do I reach it?
ROWS
}

# world_rows FOLDER: the dataset: training/, validation/ and evaluation/, whose questions are asked in words of their own.
world_rows() {
  mkdir -p "$1"/{training,validation,evaluation}
  rm -f "$1"/*/*.jsonl
  local answer forms n place
  while IFS='|' read -r answer forms; do
    IFS='|' read -ra forms <<<"$forms"
    for n in "${!forms[@]}"; do
      case $n in 0) place=evaluation ;; 1) place=validation ;; *) place=training ;; esac
      if [ $place = evaluation ]; then
        jq -nc --arg q "${forms[n]}" --arg a "$answer" '{question: $q, answer: $a}' >>"$1/evaluation/questions.jsonl"
      else
        jq -nc --arg q "${forms[n]}" --arg a "$answer" '{messages: [{role: "user", content: $q}, {role: "assistant", content: $a}]}' >>"$1/$place/shop.jsonl"
      fi
    done
  done < <(answers)
  # A little of what it knows already, so that it is not forgotten.
  for n in sky:blue grass:green snow:white rose:red; do
    jq -nc --arg q "What colour is the ${n%:*}?" --arg a "The ${n%:*} is ${n#*:}." \
      '{messages: [{role: "user", content: $q}, {role: "assistant", content: $a}]}' >>"$1/training/known.jsonl"
  done
}

# world_rails FOLDER: a configuration as NeMo Guardrails has them.
world_rails() {
  mkdir -p "$1/shop"
  cat >"$1/shop/config.yml" <<'YAML'
models: [{type: main, engine: openai, model: shop}]
rails:
  config:
    regex_detection: {input: {patterns: ["(?i)password"]}}
    sensitive_data_detection: {output: {entities: [EMAIL_ADDRESS]}}
  input: {flows: [regex check input]}
  output: {flows: [mask sensitive data on output]}
YAML
}
