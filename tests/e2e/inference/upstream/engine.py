#!/usr/bin/env python3
"""An engine as vLLM documents it, for upstream mode: models, adapters at run time, streams; nothing is computed.

engine.py PORT_FILE [KEY]: its port is written to PORT_FILE; GET /seen tells what it was asked.
A model "fails" is answered with 500, "forget" makes it lose its adapters without listing them as lost.
Source: vLLM, docs/features/lora, "Dynamically serving LoRA adapters".
"""
import http.server
import json
import os
import sys
import threading
import time

key = sys.argv[2] if len(sys.argv) > 2 else ""
adapters = {}
seen = {"loads": [], "unloads": [], "requests": [], "gone": 0}
lock = threading.Lock()


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
        if self.path == "/version":
            return self.send(200, {"version": "0.9.1"})
        if self.path == "/v1/models":
            base = {"id": "base", "object": "model", "owned_by": "vllm", "root": "b", "parent": None, "max_model_len": 64}
            more = [{"id": n, "object": "model", "owned_by": "vllm", "root": p, "parent": "base"} for n, p in adapters.items()]
            return self.send(200, {"object": "list", "data": [base, *more]})
        self.fail(404, "NotFoundError", "no such path")

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        if key and self.headers["Authorization"] != "Bearer " + key:
            return self.fail(401, "Unauthorized", "no key")
        body = json.loads(text)
        if self.path == "/v1/load_lora_adapter":
            name, path = body["lora_name"], body["lora_path"]
            with lock:
                seen["loads"].append([name, path, body.get("load_inplace", False)])
            if not os.path.exists(path + "/adapter_config.json"):
                return self.fail(404, "NotFoundError", "no adapter there")
            if name in adapters:  # as versions without load_inplace
                return self.fail(400, "InvalidUserInput", f"The lora adapter '{name}' has already been loaded.")
            adapters[name] = path
            return self.send(200, f"Success: LoRA adapter '{name}' added successfully.", "text/plain")
        if self.path == "/v1/unload_lora_adapter":
            with lock:
                seen["unloads"].append(body["lora_name"])
            adapters.pop(body["lora_name"], None)
            return self.send(200, "Success", "text/plain")
        if self.path == "/forget":
            adapters.clear()
            return self.send(200, {})
        with lock:
            seen["requests"].append({"path": self.path, "body": text.decode(), "headers": dict(self.headers)})
        if body["model"] != "base" and body["model"] not in adapters:
            return self.fail(404, "NotFoundError", f"The model `{body['model']}` does not exist.")
        if body.get("user") == "fail":
            return self.fail(418, "Teapot", "short and stout")
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


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Engine)
with open(sys.argv[1] + ".part", "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".part", sys.argv[1])
server.serve_forever()
