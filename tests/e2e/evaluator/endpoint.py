"""An OpenAI endpoint that answers by rules, and remembers what it was asked.

  [HOST=127.0.0.1] [PORT=0] [CERT=… KEY=…] python3 endpoint.py PORTFILE

The last message's (or the prompt's) text decides:
  say X        X, without its ~ (up to the end of the line)
  status N     an error with that status
  slow N       after N ms
  lie          200, with types that are none of the protocol's
  nan          200, a body with NaN in it
  anything else: "echo: " and the text
Prompts with "echo": true get log-probabilities: each character is a token of -0.5, those of upper case -0.25. Embeddings are
counts of letters. POST /control {"delay_ms", "status", "models", "echo", "rules", "adapters"} changes what all questions get: "echo": "generated"
gives log-probabilities of generated tokens alone, false none. GET /seen gives what was asked, {"bodies": [...], "questions": {text: times}}; GET /reset forgets it.

Rules go before the above: of those whose "model" and "seed", if given, are the question's, the first whose "match" is found in its
messages gives "say" and "calls", a list of {"name", "arguments"}.
"""
import json
import os
import re
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

seen = []
times = {}
most_at_once = [0, 0]
control = {"delay_ms": 0, "status": 0, "models": ["main-model"], "echo": True, "rules": [], "adapters": []}
lock = threading.Lock()


def text_of(body):
    if "messages" in body:
        content = body["messages"][-1].get("content") or ""
        return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
    prompt = body.get("prompt", body.get("input", ""))
    return prompt if isinstance(prompt, str) else json.dumps(prompt)


def rule_for(body):
    texts = [message.get("content") or "" for message in body["messages"]] if "messages" in body else [str(body.get("prompt", ""))]
    for rule in control["rules"]:
        if any(key in rule and rule[key] != body.get(key) for key in ("model", "seed")):
            continue
        if re.search(rule["match"], "\n".join(texts), re.DOTALL):
            return rule
    return None


def tool_calls(calls):
    return [{"id": f"call_{i}", "type": "function", "function": {"name": each["name"], "arguments": json.dumps(each["arguments"])}}
            for i, each in enumerate(calls)]


def letters(text):
    return [float(text.lower().count(chr(97 + i))) for i in range(26)]


def log_probabilities(prompt, generated):
    tokens = list(prompt) + generated
    values = [None if i == 0 else (-0.25 if token.isupper() else -0.5) for i, token in enumerate(tokens)]
    return {
        "tokens": tokens,
        "token_logprobs": values,
        "top_logprobs": [None if value is None else {token: value} for token, value in zip(tokens, values)],
        "text_offset": list(range(len(tokens))),
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def raw(self, status, data, **headers):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(data)

    def give(self, status, value, **headers):
        self.raw(status, json.dumps(value).encode(), **headers)

    def error(self, status):
        self.give(status, {"error": {"message": "as asked", "type": "test", "param": None, "code": None}}, Retry_After="0")

    def do_GET(self):
        if self.path == "/seen":
            with lock:
                self.give(200, {"bodies": seen, "questions": times, "most_at_once": most_at_once[1]})
        elif self.path == "/reset":
            with lock:
                seen.clear()
                times.clear()
                most_at_once[1] = 0
            self.give(200, {})
        elif self.path.startswith("/v1/adapters?"):  # as an entitystore
            self.give(200, {"adapters": control["adapters"]})
        elif control["status"]:
            self.error(control["status"])
        else:
            self.give(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in control["models"]]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/control":
            control.update(body)
            return self.give(200, control)
        with lock:
            most_at_once[0] += 1
            most_at_once[1] = max(most_at_once)
        try:
            self.answer(body)
        finally:
            with lock:
                most_at_once[0] -= 1

    def answer(self, body):
        text = text_of(body)
        if control["status"]:
            return self.error(control["status"])
        with lock:
            if len(seen) < 2000:
                seen.append({"path": self.path, "authorization": self.headers.get("Authorization"),
                             "traceparent": self.headers.get("traceparent"), "body": body})
            times[text] = times.get(text, 0) + 1
        if control["delay_ms"]:
            time.sleep(control["delay_ms"] / 1000)
        if match := re.search(r"status (\d+)", text):
            return self.error(int(match[1]))
        if match := re.search(r"slow (\d+)", text):
            time.sleep(int(match[1]) / 1000)
        if re.search(r"\blie\b", text):
            return self.give(200, {"choices": {"message": 3}})
        if re.search(r"\bnan\b", text):
            return self.raw(200, b'{"choices":[{"message":{"content":NaN},"text":NaN}]}')
        if self.path.endswith("/embeddings"):
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            data = [{"index": i, "object": "embedding", "embedding": letters(each)} for i, each in enumerate(texts)]
            return self.give(200, {"object": "list", "data": data, "model": body.get("model")})
        rule = rule_for(body) if control["rules"] else None
        match = re.search(r"say ([^\n]*)", text)
        words = rule.get("say", "") if rule else match[1].replace("~", "") if match else "echo: " + text
        usage = {"prompt_tokens": len(text.split()), "completion_tokens": len(words.split())}
        choice = {"index": 0, "finish_reason": "stop"}
        if self.path.endswith("/chat/completions"):
            choice["message"] = {"role": "assistant", "content": words}
            if rule and "calls" in rule:
                choice["message"]["tool_calls"] = tool_calls(rule["calls"])
                choice["finish_reason"] = "tool_calls"
        else:
            choice["text"] = (text if body.get("echo") else "") + words
            if body.get("logprobs") is not None and control["echo"]:
                choice["logprobs"] = log_probabilities(text if body.get("echo") and control["echo"] != "generated" else "", ["x"])
        return self.give(200, {"id": "x", "object": "completion", "model": body.get("model"), "choices": [choice], "usage": usage})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """Clients that are killed leave in the middle of an answer."""


server = Server((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "0"))), Handler)
if "CERT" in os.environ:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.environ["CERT"], os.environ["KEY"])
    server.socket = tls.wrap_socket(server.socket, server_side=True)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as out:
    out.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
