"""An API server that only takes patches of ConfigMaps: puller_api.py PORT-FILE PATCHES-FILE. One JSON line for each."""

import http.server
import json
import sys


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PATCH(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with open(sys.argv[2], "a", encoding="utf-8") as out:
            out.write(json.dumps({"path": self.path, "type": self.headers["Content-Type"], "body": json.loads(body)}) + "\n")
        answer = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
with open(sys.argv[1], "w", encoding="utf-8") as port:
    port.write(str(server.server_port))
server.serve_forever()
