"""A tracking server that keeps what it is told, by MLflow's documented REST, and checks what it is given.

mlflow_server.py: prints its port. GET /state: runs as JSON, and how large each file is. POST /mode MODE: ok, error (500), slow
(hangs), lies (200 with HTML); of files alone: no-files (404, as servers without the proxy), files-off (503, as with
--no-serve-artifacts), files-fail (500), s3 (runs made now keep theirs in a bucket)."""
import base64, http.server, json, re, threading, time, urllib.parse

state = {"experiments": {}, "runs": {}, "calls": [], "files": {}}
contents = {}
files = "/api/2.0/mlflow-artifacts/artifacts/"
mode = ["ok"]
lock = threading.Lock()


class Refused(Exception):
    pass


def need(condition, message, code="INVALID_PARAMETER_VALUE"):
    if not condition:
        raise Refused(code, message)


def info_of(id):
    run = state["runs"][id]
    return {"run_id": id, "run_uuid": id, "experiment_id": run["experiment"], "status": run["status"][-1], "artifact_uri": run["artifact_uri"]}


def safe_path(path):
    """As _upload_artifact does it: what could leave the folder is refused, however often it was escaped."""
    need(path.startswith(files), "no such path", "ENDPOINT_NOT_FOUND")
    path = path.removeprefix(files)
    need("//" not in path, "the real one redirects", "ENDPOINT_NOT_FOUND")
    decoded = path
    while urllib.parse.unquote(decoded) != decoded:
        decoded = urllib.parse.unquote(decoded)
    parts = decoded.split("/")
    need(decoded and ".." not in parts and parts[0] and parts[-1] and not any(c in decoded for c in "#?\\\0"), "Invalid path")
    return urllib.parse.unquote(path)


def run_of(body):
    need(body.get("run_id") in state["runs"], "no such run", "RESOURCE_DOES_NOT_EXIST")
    return state["runs"][body["run_id"]]


def pairs(items, most):
    need(isinstance(items, list) and len(items) <= most, "too many, or no list")
    for each in items:
        need(isinstance(each["key"], str) and isinstance(each["value"], str) and len(each["value"]) <= 500, "no pair")
    return {each["key"]: each["value"] for each in items}


def answer(call, query, body):
    if call == "experiments/get-by-name":
        name = query["experiment_name"][0]
        need(name in state["experiments"], "no such experiment", "RESOURCE_DOES_NOT_EXIST")
        return {"experiment": {"experiment_id": state["experiments"][name], "name": name, "lifecycle_stage": "active"}}
    if call == "experiments/create":
        need(body["name"] not in state["experiments"], "it exists", "RESOURCE_ALREADY_EXISTS")
        state["experiments"][body["name"]] = str(len(state["experiments"]) + 1)
        return {"experiment_id": state["experiments"][body["name"]]}
    if call == "runs/search":
        need(all(each in state["experiments"].values() for each in body["experiment_ids"]), "no such experiment")
        found = re.fullmatch(r"tags\.(\w+) = '([^']*)'", body["filter"])
        need(found, "filter")
        ids = [id for id, run in state["runs"].items() if run["tags"].get(found[1]) == found[2]][: body["max_results"]]
        return {"runs": [{"info": info_of(id)} for id in ids]} if ids else {}
    if call == "runs/get":
        run_of({"run_id": query["run_id"][0]})
        return {"run": {"info": info_of(query["run_id"][0]), "data": {}}}
    if call == "runs/create":
        need(body["experiment_id"] in state["experiments"].values(), "no such experiment")
        need(isinstance(body["start_time"], int) and body["start_time"] > 1e12, "start_time is in milliseconds")
        name = f"run{len(state['runs']) + 1}"
        where = "s3://bucket/" if mode[0] == "s3" else "mlflow-artifacts:/"
        uri = f"{where}{body['experiment_id']}/{name}/artifacts"
        state["runs"][name] = {"tags": pairs(body["tags"], 100), "name": body.get("run_name"), "params": {}, "metrics": [], "status": ["RUNNING"]}
        state["runs"][name] |= {"experiment": body["experiment_id"], "artifact_uri": uri}
        return {"run": {"info": info_of(name), "data": {}}}
    if call == "runs/log-batch":
        run = run_of(body)
        for key, value in pairs(body.get("params", []), 100).items():
            need(run["params"].setdefault(key, value) == value, "parameters do not change")
        run["tags"] |= pairs(body.get("tags", []), 100)
        need(len(body.get("metrics", [])) <= 1000, "too many metrics")
        for each in body.get("metrics", []):
            need(isinstance(each["timestamp"], int) and isinstance(each["step"], int), "no integer")
            run["metrics"].append([each["key"], each["step"], float(each["value"])])
        return {}
    if call == "runs/update":
        run = run_of(body)
        need(body["status"] in ("RUNNING", "FINISHED", "FAILED", "KILLED"), "status")
        need(body["status"] == "RUNNING" or isinstance(body.get("end_time"), int), "end_time")
        run["status"].append(body["status"])
        return {"run_info": info_of(body["run_id"])}
    raise Refused("ENDPOINT_NOT_FOUND", call)


class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, status, text):
        text = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_file(self, path, content):
        if mode[0] == "files-fail":
            return self.reply(500, json.dumps({"error_code": "INTERNAL_ERROR", "message": "the bucket is away"}))
        if mode[0] == "no-files":
            return self.reply(404, "<!doctype html><title>404 Not Found</title>")
        if mode[0] == "files-off":
            return self.reply(503, f"Endpoint: {path} disabled due to the mlflow server running with `--no-serve-artifacts`. To enable ...")
        with lock:
            try:
                name = safe_path(path)
                if self.command == "GET":
                    need(name in contents, "no such file", "RESOURCE_DOES_NOT_EXIST")
                    return self.reply(200, contents[name])
                contents[name] = content
                state["files"][name] = len(content)
                return self.reply(200, "{}")
            except Refused as refused:
                return self.refuse(refused)

    def refuse(self, refused):
        code, message = refused.args
        return self.reply(404 if "NOT" in code else 400, json.dumps({"error_code": code, "message": message}))

    def handle_call(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/state":
            with lock:
                return self.reply(200, json.dumps(state))
        if url.path == "/mode":
            mode[0] = text.decode()
            return self.reply(200, "")
        if mode[0] == "slow":
            time.sleep(3)
        if mode[0] == "error":
            return self.reply(500, "<html>")
        if mode[0] == "lies":
            return self.reply(200, "<html>")
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"me:word").decode():
            return self.reply(401, "")
        if "mlflow-artifacts" in url.path or self.command == "PUT":
            return self.handle_file(url.path, text)
        with lock:
            call = url.path.removeprefix("/api/2.0/mlflow/")
            state["calls"].append(call)
            try:
                out = answer(call, urllib.parse.parse_qs(url.query), json.loads(text) if text else {})
                return self.reply(200, json.dumps(out))
            except Refused as refused:
                return self.refuse(refused)

    do_GET = do_POST = do_PUT = handle_call

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
