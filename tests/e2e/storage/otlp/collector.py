"""A small OTLP collector: each request's body goes into a file, the answer is what the protocol wants.

  python3 collector.py PORT_FILE FOLDER     while FOLDER/refuse exists, requests are answered with 503
"""
import gzip
import http.server
import json
import pathlib
import sys
import threading

port_file, folder = (pathlib.Path(each) for each in sys.argv[1:3])
lock = threading.Lock()
count = 0


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["Content-Length"]))
        refused = (folder / "refuse").exists()
        kind = "json" if self.headers["Content-Type"] == "application/json" else "pb"
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if not refused:
            signal = self.path.rsplit("/", 1)[1]
            if kind == "json":
                json.loads(body)
            with lock:
                count += 1
                number = count
            part = folder / f"{signal}-{number}.{kind}.part"
            part.write_bytes(body)
            part.rename(part.with_suffix(""))
            with lock, open(folder / "heads", "a", encoding="utf-8") as heads:
                print(self.path, self.headers["Content-Type"], self.headers.get("Content-Encoding", "-"),
                      self.headers.get("Authorization", "-"), file=heads)
        answer = b"{}" if kind == "json" else b""
        self.send_response(503 if refused else 200)
        if refused:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Type", self.headers["Content-Type"])
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
port_file.write_text(str(server.server_port))
server.serve_forever()
