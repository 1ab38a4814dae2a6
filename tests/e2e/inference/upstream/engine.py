#!/usr/bin/env python3
"""An engine as vLLM documents it, for upstream mode: models, adapters at run time, streams; nothing is computed.

KIND=sglang has calls without /v1 and chooses adapters by lora_path, KIND=llama-server has its adapters from the start and
chooses them by number, KIND=openai has none.
engine.py PORT_FILE [KEY]: its port is written to PORT_FILE; GET /seen tells what it was asked.
POST /forget makes it lose its adapters; user "fail" is refused, "slow" is answered after 3 s.
Source: vLLM, docs/features/lora, "Dynamically serving LoRA adapters"; SGLang, docs/advanced_features/lora; llama.cpp,
tools/server/README.
"""
import http.server
import json
import os
import sys
import threading
import time

kind = os.environ.get("KIND", "vllm")
key = sys.argv[2] if len(sys.argv) > 2 else ""
calls = "" if kind == "sglang" else "/v1"
owners = {"vllm": "vllm", "sglang": "sglang", "llama-server": "llamacpp", "openai": "somebody"}
adapters = {}
seen = {"loads": [], "unloads": [], "requests": [], "gone": 0}
lock = threading.Lock()


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):  # a client that has left
        pass


class Engine(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, kind="application/json"):
        body = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, kind, message):
        self.send(status, {"error": {"message": message, "type": kind, "param": None, "code": status}})

    def do_GET(self):
        if self.path == "/seen":
            return self.send(200, seen)
        if key and self.headers["Authorization"] != "Bearer " + key:
            return self.fail(401, "Unauthorized", "no key")
        if self.path == "/lora-adapters" and kind == "llama-server":
            return self.send(200, [{"id": i, "path": f"/lora/{n}.gguf", "scale": 0.0} for i, n in enumerate(["other", "support"])])
        if self.path == "/version" and kind == "vllm":
            return self.send(200, {"version": "0.9.1"})
        if self.path == "/v1/models":
            base = {"id": "base", "object": "model", "owned_by": owners[kind], "root": "b", "parent": None, "max_model_len": 64}
            more = [{"id": n, "object": "model", "owned_by": "vllm", "root": p, "parent": "base"} for n, p in adapters.items()]
            return self.send(200, {"object": "list", "data": [base, *more]})
        self.fail(404, "NotFoundError", "no such path")

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        if key and self.headers["Authorization"] != "Bearer " + key:
            return self.fail(401, "Unauthorized", "no key")
        body = json.loads(text)
        if kind != "openai" and self.path == calls + "/load_lora_adapter":
            name, path = body["lora_name"], body["lora_path"]
            with lock:
                seen["loads"].append([name, path, body.get("load_inplace", False)])
            if not os.path.exists(path + "/adapter_config.json"):
                return self.fail(404, "NotFoundError", "no adapter there")
            if name == "heavy":
                return self.fail(400, "BadRequestError", "LoRA rank 4 is greater than max_lora_rank 2.")
            if name in adapters:  # as versions without load_inplace
                return self.fail(400, "InvalidUserInput", f"The lora adapter '{name}' has already been loaded.")
            adapters[name] = path
            return self.send(200, f"Success: LoRA adapter '{name}' added successfully.", "text/plain")
        if kind != "openai" and self.path == calls + "/unload_lora_adapter":
            with lock:
                seen["unloads"].append(body["lora_name"])
            if kind == "sglang" and body["lora_name"] not in adapters:
                return self.send(400, {"success": False, "error_message": f"LoRA adapter {body['lora_name']} is not loaded"})
            adapters.pop(body["lora_name"], None)
            return self.send(200, "Success", "text/plain")
        if self.path == "/forget":
            adapters.clear()
            return self.send(200, {})
        with lock:
            seen["requests"].append({"path": self.path, "body": text.decode(), "headers": dict(self.headers)})
        if kind == "sglang":
            lora = body.get("lora_path")
            if body["model"] != "base" or (lora and lora not in adapters):
                return self.send(400, {"message": f"The following requested LoRA adapters are not loaded: {{'{lora}'}}"})
            return self.send(200, {"model": body["model"], "root": adapters[lora] if lora else "base"})
        if kind != "llama-server" and body.get("model", "base") != "base" and body["model"] not in adapters:
            return self.fail(404, "NotFoundError", f"The model `{body['model']}` does not exist.")
        if self.path == "/tokenize":
            return self.send(200, {"count": 1, "max_model_len": 64, "tokens": [7]})
        if self.path == "/detokenize":
            return self.send(404, {"detail": "Not Found"})
        if body.get("user") == "slow":
            time.sleep(3)
        if body.get("user") == "fail":
            return self.fail(418, "Teapot", "short and stout")
        if kind == "llama-server":
            return self.send(200, {"model": body["model"], "lora": body.get("lora")})
        if not body.get("stream"):
            return self.send(200, {"model": body["model"], "root": adapters.get(body["model"], "base")})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for i in range(body.get("n", 3)):
                piece = f"data: {{\"i\":{i}}}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
                time.sleep(0.05)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            with lock:
                seen["gone"] += 1


server = Server(("127.0.0.1", int(os.environ.get("PORT", "0"))), Engine)
with open(sys.argv[1] + ".part", "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".part", sys.argv[1])
server.serve_forever()
