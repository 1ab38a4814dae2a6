"""An OpenAI endpoint that answers by rules, and remembers what it was asked.

  HOST=127.0.0.1 PORT=0 python3 upstream.py PORTFILE

The last message's text decides: a self-check prompt (it holds CHECK:) is answered "yes" when it holds the word
"forbidden", else "no"; `say X` is answered X, without its ~; `status N` with that status; `slow N` after N ms; `break N` is a
stream that ends in an error after N words, `cut N` one whose connection breaks then; anything else "echo: …".
GET /seen gives all bodies and how many clients left early, GET /reset forgets them.
"""
import json
import re
import select
import sys
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

seen = []
lock = threading.Lock()
left_streams = [0]


def last_text(body):
    if "messages" in body:
        content = body["messages"][-1].get("content") or ""
        return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
    return str(body.get("prompt", ""))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def give(self, status, value, **headers):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/seen":
            with lock:
                self.give(200, {"bodies": seen, "left_streams": left_streams[0]})
        elif self.path == "/reset":
            with lock:
                seen.clear()
                left_streams[0] = 0
            self.give(200, {})
        else:
            self.give(200, {"object": "list", "data": [{"id": "main-model", "object": "model", "owned_by": "test"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            seen.append({"path": self.path, "authorization": self.headers.get("Authorization"), "body": body})
        if self.path == "/v1/actions/run":  # a server of actions
            name, given = body["action_name"], body["action_parameters"]
            if name != "find_price" or given.get("item", "nothing") == "nothing":
                return self.give(200, {"status": "failed", "result": None})
            return self.give(200, {"status": "success", "result": {"price": 40 + len(given["item"])}})
        text = last_text(body)
        if match := re.search(r"status (\d+)", text):
            return self.give(int(match[1]), {"error": {"message": "as asked", "type": "test", "param": None, "code": None}},
                             Retry_After="7")
        if match := re.search(r"slow (\d+)", text):
            # Nothing more is to be read but the end.
            if select.select([self.connection], [], [], int(match[1]) / 1000)[0]:
                self.left()
                return None
        if "CHECK:" in text:
            answer = "yes" if "forbidden" in text.split("CHECK:")[1] else "no"
        elif "say " in text:
            answer = text.split("say ", 1)[1].replace("~", "")
        else:
            answer = "echo: " + text
        message = {"role": "assistant", "content": answer}
        if body.get("tools") and "use the tool" in text:
            message = {"role": "assistant", "content": None, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": '{"q":"x"}'}}]}
        if body.get("stream"):
            return self.stream(message, text)
        self.give(200, {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body.get("model", ""),
                        "choices": [{"index": 0, "message": message, "finish_reason":
                                     "tool_calls" if "tool_calls" in message else "stop"}],
                        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}})

    def left(self):
        with lock:
            left_streams[0] += 1
        self.close_connection = True

    def stream(self, message, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        ends = re.search(r"(break|cut) (\d+)", text)
        pieces = [{"content": piece} for piece in re.findall(r"\S+\s*|\s+", message["content"] or "")]
        if "tool_calls" in message:
            call = message["tool_calls"][0]
            pieces = [{"tool_calls": [{"index": 0, "id": call["id"], "type": "function",
                                       "function": {"name": call["function"]["name"], "arguments": ""}}]}]
            pieces += [{"tool_calls": [{"index": 0, "function": {"arguments": each}}]} for each in call["function"]["arguments"]]
        try:
            for number, piece in enumerate(pieces):
                if ends and number == int(ends[2]):
                    if ends[1] == "break":
                        self.event({"error": {"message": "the model broke", "type": "server_error", "param": None, "code": None}})
                    self.close_connection = True
                    return
                self.event({"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "m",
                            "choices": [{"index": 0, "delta": piece, "finish_reason": None}]})
                time.sleep(0.005)
            self.event({"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
                {"index": 0, "delta": {}, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}]})
            self.piece(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.left()

    def event(self, value):
        self.piece(b"data: " + json.dumps(value).encode() + b"\n\n")

    def piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        """A client that left is no fault of ours."""


server = Server((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "0"))), Handler)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as file:
    file.write(str(server.server_address[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
