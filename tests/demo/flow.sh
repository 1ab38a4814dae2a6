# Sourced, after world.sh and services.sh. The flow's steps; each returns when its result is there.
# shellcheck shell=bash disable=SC2154,SC2034
flow_services=(datastore entitystore inference guardrail evaluator customizer) # ports 8000 … 8005

# within SECONDS COMMAND…: tried again until then
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do ((SECONDS < end)) || return 1; sleep 0.05; done
}

# make_base: a small base model at $work/made
make_base() {
  base_text >"$work/text"
  "$bin/stackgate-trainer" make-tiny --text "$work/text" --output "$work/made" --steps "${base_steps:-300}" --hidden 64 --vocabulary 500 \
    --context 256 --threads 1 2>"$work/make-tiny.log" >"$work/make-tiny.steps"
}

# prepare_git: a home of its own, so that nobody's settings of git are read or changed
prepare_git() {
  export HOME=$work/home GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=$work/askpass
  mkdir -p "$HOME"
  # shellcheck disable=SC2016 # the script's own
  printf '#!/bin/sh\ncase $1 in Username*) echo admin ;; *) cat %q ;; esac\n' "$work/admin-password" >"$GIT_ASKPASS"
  admin_password >"$work/admin-password"
  chmod +x "$GIT_ASKPASS"
  git config --global user.name Demo
  git config --global user.email demo@example.org
  git config --global init.defaultBranch main
  git config --global lfs.locksverify false
  git config --global advice.detachedHead false
}

# new_repository KIND NAME
new_repository() {
  curl -sf -o /dev/null -u "admin:$(admin_password)" --json "{\"type\":\"$1\",\"name\":\"$2\",\"private\":true}" \
    "${address[datastore]}/v1/hf/api/repos/create"
}

# push FOLDER REPOSITORY: a commit of it, large files by LFS
push() {
  (cd "$1" && git init -q && git lfs install --local >/dev/null && git lfs track '*.safetensors' >/dev/null && git add . && git commit -qm "$2" &&
    git push -q "${address[datastore]}/admin/$2" main)
}
# pull_base: the base model, to where customizer and engine look for it
pull_base() {
  DATASTORE_USERNAME=admin DATASTORE_PASSWORD=$(admin_password) "$bin/stackgate-puller" --datastore-url "${address[datastore]}" --model admin/tiny \
    --output "$work/models/demo/tiny"
}

# post URL BODY: the answer, or its status and the reasons
post() {
  local body
  body=$(curl -s -w '\n%{http_code}' "${@:3}" --json "$2" "$1")
  [[ ${body##*$'\n'} == 2* ]] || { echo "$1 answers ${body##*$'\n'}: ${body%$'\n'*}" >&2 && return 1; }
  printf '%s\n' "${body%$'\n'*}"
}

# question MODEL TEXT [URL]: the answer's text
question() {
  post "${3:-${address[inference]}}/v1/chat/completions" "$(jq -nc --arg m "$1" --arg q "$2" \
    '{model: $m, temperature: 0, max_tokens: 40, messages: [{role: "user", content: $q}]}')" | jq -r '.choices[0].message.content'
}
# behind_rails TEXT
behind_rails() {
  post "${address[guardrail]}/v1/chat/completions" "$(jq -nc --arg q "$1" \
    '{config_id: "shop", temperature: 0, max_tokens: 40, messages: [{role: "user", content: $q}]}')" | jq -r '.choices[0].message.content'
}

customization_body() { # [NAME]
  printf '{"name":"%s","model":"demo/tiny","dataset":"admin/shop","output_model":"demo/%s@1.0.0","hyperparameters":{"lora_rank":8,"lora_alpha":32,"learning_rate":0.01,"batch_size":8,"max_steps":%d,"threads":1}}' \
    "${1:-shop}" "${1:-shop}" "${adapter_steps:-150}"
}
# knows_base: whether the customizer has found the model; it looks at its folder every few seconds.
knows_base() { curl -s --max-time 5 "${address[customizer]}/v1/customization/targets" | jq -e '.data[] | select(.name == "demo/tiny@1.0")' >/dev/null; }
customization() { curl -s --max-time 5 "${address[customizer]}/v1/customizations/${1:-shop}"; }
has_steps() { customization | jq -e --argjson n "$1" '.status_details.steps_completed >= $n' >/dev/null; }
completed() { [ "$(customization | jq -r .status)" = completed ]; }
has_ended() { [[ $(jq -r .status <<<"$1") =~ ^(completed|failed|cancelled)$ ]]; }

adapter_record() { curl -s --max-time 5 "${address[entitystore]}/v1/adapters?name=${1:-shop}" | jq -c '.adapters[0] // empty'; }
served_models() { curl -s --max-time 5 "${address[inference]}/v1/models" | jq -r '.data[].id'; }
is_served() { served_models | grep -qx "${1:-shop}"; }

evaluation_body() { # NAME MODEL
  printf '{"name":"%s","model_endpoint":"%s/v1","model":"%s","framework":"similarity-metrics","dataset":"hf://datasets/admin/shop/evaluation","params":{"prompt":"{{ item.question }}","reference":"{{ item.answer }}","metrics":["accuracy","f1"],"max_tokens":40}}' \
    "$1" "${inner_address[inference]:-${address[inference]}}" "$2"
}
evaluation_state() { curl -s --max-time 5 "${address[evaluator]}/v1/evaluations/$1" | jq -r .status; }
evaluated() { [[ $(evaluation_state "$1") =~ ^(completed|failed|cancelled)$ ]]; }

# page_runs PAGE: its blocks of shell, one after the other, against the services that run here; each line must succeed
page_runs() {
  local name script
  # shellcheck disable=SC2016 # marks of Markdown
  script=$(sed -n '/^```sh$/,/^```$/p' "$1" | sed '/^```/d')
  [ -n "$script" ] || { echo "$1 has no block of shell" && return 1; }
  script=${script//build\/demo-stack/$work}
  script=${script//build\/release\/bin/$bin}
  for name in "${!flow_services[@]}"; do script=${script//127.0.0.1:$((8000 + name))/${address[${flow_services[name]}]#http://}}; done
  (cd "$(dirname "$1")/../.." && bash -xeuo pipefail -c "$script")
}
