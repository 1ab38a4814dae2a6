#!/usr/bin/env bash
# stackgate-trainer as a process: a tiny model, data faults, kills at every point of a run, signals, gradients against
# numpy.
#   TRAINER_BIN=build/release/bin tests/e2e/model/trainer.sh
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=$(realpath "${TRAINER_BIN:-$here/../../../build/release/bin}")
failed=0
[ -e "$bin/libstackgate-learner.so" ] || { echo "skip the trainer: it was built without libtorch" && exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
check() { # NAME CONDITION...
  if "${@:2}"; then echo "ok $1"; else echo "not ok $1" && failed=1; fi
}
# shellcheck disable=SC2317 # called through status
trainer() { "$bin/stackgate-trainer" "$@" 2>>log; }
status() { local out=0; "$@" >out 2>>log || out=$?; echo "$out"; }

for i in {1..300}; do echo "The colour of thing $((i % 9)) is grey, and of thing $((i % 5)) it is green."; done >text
check "make-tiny makes a model" [ "$(status trainer make-tiny --text text --output tiny --steps 40 --hidden 32 --vocabulary 400 --threads 1)" = 0 ]
for i in {1..20}; do
  echo '{"messages":[{"role":"user","content":"What is thing '"$i"'?"},{"role":"assistant","content":"It is blue."}]}'
done >train.jsonl
cat >config.json <<'J'
{"max_steps": 12, "batch_size": 4, "learning_rate": 0.02, "checkpoint_interval": 4, "lora_dropout": 0.1, "threads": 1}
J
data=(--model tiny --train train.jsonl --validation train.jsonl)
train=("${data[@]}" --config config.json)

{ cat train.jsonl && echo '{"messages": []}' && echo '{"prompt": "a"'; } >wrong.jsonl
check "faults of the data end with 2" [ "$(status trainer --model tiny --train wrong.jsonl --output wrong)" = 2 ]
check "each with its file and line" grep -q '"file":"wrong.jsonl","line":22}' out
check "all of them" [ "$(grep -c '"event":"error"' out)" = 2 ]
echo '{"lora_rnak": 3, "batch_size": 0}' >wrong.json
check "faults of the configuration end with 2" [ "$(status trainer --model tiny --train train.jsonl --config wrong.json --output wrong)" = 2 ]
check "and name the word that was meant" grep -q 'did you mean \\"lora_rank\\"' out
check "missing settings end with 2" [ "$(status trainer --model tiny)" = 2 ]
if ! ldd "$bin/libstackgate-learner.so" | grep -q libtorch_cuda; then
  check "a GPU that cannot be had ends it" [ "$(status trainer "${train[@]}" --output wrong --device cuda)" != 0 ]
  check "with what to do" grep -q 'use --device cpu' out
  rm -rf wrong.part
fi
# What is wrong is said without libtorch: a library that is not there would be named.
# shellcheck disable=SC2317 # called through check
loads_nothing() { ! ldd "$bin/stackgate-trainer" | grep -qE 'torch|blas'; }
check "the program links no libtorch" loads_nothing
check "faults are found without it" [ "$(status trainer --learner-library /nowhere.so --model tiny --train wrong.jsonl --output wrong)" = 2 ]
check "a library that is not there ends with 1" [ "$(status trainer --learner-library /nowhere.so --model tiny --train train.jsonl --output wrong)" = 1 ]
check "in words" grep -q 'a part of this program cannot be loaded' out
check "nothing is left of them" [ "$(find . -maxdepth 1 -name 'wrong' -o -maxdepth 1 -name 'wrong.part')" = "" ]

check "a run ends with 0" [ "$(status trainer "${train[@]}" --output whole)" = 0 ]
check "and tells where its adapter is" grep -q '"event":"done",.*"path":"whole","archive":"whole.tar.gz"' out
check "and the archive's digest" grep -q "\"sha256\":\"$(sha256sum <whole.tar.gz | cut -c-64)\"" out
# shellcheck disable=SC2317 # called through check
same() { cmp "whole/adapter_model.safetensors" "$1/adapter_model.safetensors" && cmp whole.tar.gz "$1.tar.gz"; }
for point in step:1 step:5 step:9 checkpoint-written:1 checkpoint-written:2 checkpoint-moved:1 checkpoint-moved:2 \
  output-written archive-written output-moved; do
  name=killed-${point/:/-}
  code=$(STACKGATE_FAIL_POINT=$point status "$bin/trainer_fail_points" "${train[@]}" --output "$name")
  check "killed at $point" [ "$code" = 137 ]
  check "going on ends with 0" [ "$(status trainer "${train[@]}" --output "$name" --resume)" = 0 ]
  check "the bytes of an undisturbed run, killed at $point" same "$name"
  check "nothing else is left" [ ! -e "$name.part" ]
done

echo '{"max_steps": 2, "validation_split": 0.25, "threads": 1}' >split.json
check "a share of the examples can be kept back for validation" [ "$(status trainer --model tiny --train train.jsonl --config split.json --output split)" = 0 ]
check "it is not trained" grep -q '"event":"start",.*"examples":15,' out
check "its loss is told" grep -q '"event":"validation","step":2,"val_loss":' out
check "files of validation beside it end with 2" [ "$(status trainer "${data[@]}" --config split.json --output wrong)" = 2 ]

cat >listen.py <<'P'
import http.server, json, time
def events(body):
    """The texts of a body: one event, or an array of what gathered meanwhile."""
    out, at = [], 1 if body[0] == "[" else 0
    while at < len(body) - 1:
        end = json.JSONDecoder().raw_decode(body, at)[1]
        out.append(body[at:end] + "\n")
        at = end + 1
    return out
class Handler(http.server.BaseHTTPRequestHandler):
    bodies = 0
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with open("posted", "a") as file:
            file.writelines(events(body))
        Handler.bodies += 1
        with open("bodies", "w") as file:
            file.write(str(Handler.bodies))
        if Handler.bodies == 1:
            time.sleep(0.5)  # further events gather
        self.send_response(200 if self.headers["Authorization"] == "Bearer word" else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
P
python3 listen.py >port &
listener=$!
trap 'kill $listener 2>/dev/null || true; rm -rf "$scratch"' EXIT
echo word >token
for _ in {1..50}; do
  if [ -s port ]; then break; fi
  sleep 0.1
done
tell=(--job-id cust-1 --progress-url "http://127.0.0.1:$(cat port)/progress" --progress-token-file token)
check "a run that is told of ends with 0" [ "$(status trainer "${train[@]}" --output told "${tell[@]}")" = 0 ]
check "each line was posted, in order" cmp out posted
check "those that gathered in one body" [ "$(cat bodies)" -lt "$(wc -l <posted)" ]
check "with the job's name" [ "$(grep -c '"job_id":"cust-1"' posted)" = "$(wc -l <posted)" ]
kill "$listener"
code=$(status trainer "${train[@]}" --output untold --progress-url "http://127.0.0.1:$(cat port)/progress")
check "a server that is away does not end a run" [ "$code" = 0 ]

sed 's/12/4000/' config.json >long.json
"$bin/stackgate-trainer" "${data[@]}" --config long.json --output stopped >stopped.out 2>>log &
for _ in {1..100}; do
  if grep -qs '"event":"validation"' stopped.out; then break; fi
  sleep 0.1
done
kill -TERM $!
code=0 && wait $! || code=$?
check "SIGTERM ends with 75" [ "$code" = 75 ]
check "behind a checkpoint" grep -q "\"event\":\"checkpoint\",\"step\":[0-9]*,\"path\":\"stopped.part/checkpoint-" <(tail -1 stopped.out)
check "another configuration does not go on from it" [ "$(status trainer "${train[@]}" --output stopped --resume)" = 2 ]
check "what is wrong stands in a line" grep -q 'is of another run' out

PATH=/usr/bin:$PATH # Debian's packages are for Debian's Python
if python3 -c 'import numpy' 2>/dev/null; then
  python3 "$here/graph/gradients.py" make models "${GRAPH_SEED:-7}"
  for model in models/*/; do "$bin/learn_cases" "$model"; done
  python3 "$here/graph/gradients.py" compare models || failed=1
else
  echo "skip gradients against numpy: install python3-numpy"
fi
[ "$failed" = 0 ] || tail -20 log
exit "$failed"
