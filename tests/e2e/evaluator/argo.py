#!/usr/bin/env python3
"""A stand-in for an Argo Workflows server: its HTTP API for workflows, events and logs, without a cluster.

A workflow's one container is run here as a shell script, or plays what was asked for at /-/play. Prints
"listening on PORT". What it does follows the server's proto and grpc-gateway: bodies, phases, streams and errors.

  --token T            requests need "Authorization: Bearer T" (401 otherwise)
  --forbidden-token T  is known, and may do nothing (403)
  --read-only-token T  is known, and may look only
  --cert F --key F     TLS
  --run                run the container's command; without it, or where "final" is given, "play" decides
  --port-file FILE     the port, written once it listens

POST /-/play {...}: of workflows submitted from now on
  final, message       the last phase and its message ("Succeeded")
  log                  lines of the main container
  keep_log             false: the log is empty once the workflow has ended (its pods are gone)
  archive              true: the log is kept as the artifact "main-logs" (as spec.archiveLogs has it, too)
  results              the output parameter "results"
  steps                how often it says "running" before it ends (3)
  hold                 true: it runs until it is stopped
  ignore_stop          true: terminate alone ends it
  cut_events, cut_log  the first stream breaks after so many entries
  error_in_stream      true: the first event stream has an error in it
  then                 how it goes on when it is retried
  fail                 {"submit": [503, "cut", 200-with-"html"], "get": [...], …}: answers before the real ones
GET /-/requests: method, path and body of each request so far.
"""
import argparse
import base64
import copy
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CODES = {400: 3, 401: 16, 403: 7, 404: 5, 409: 6, 500: 13, 503: 14}
FINAL = ("Succeeded", "Failed", "Error")
TICK = 0.05


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


class Server:
    def __init__(self, options):
        self.options = options
        self.changed = threading.Condition()
        self.workflows = {}  # (namespace, name) -> {"object", "log", "play", "events"}
        self.templates = {}
        self.play, self.requests, self.version = {}, [], 0
        self.streams = {"events": 0, "log": 0}

    # --- workflows ---

    def create(self, namespace, workflow, dry_run=False):
        meta, spec = workflow.setdefault("metadata", {}), workflow.get("spec") or {}
        name = meta.get("name") or (meta.get("generateName", "") + uuid.uuid4().hex[:5])
        if not name or not re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", name):
            raise Refused(400, "metadata.name is invalid")
        if "workflowTemplateRef" in spec:
            template = self.templates.get((namespace, spec["workflowTemplateRef"]["name"]))
            if template is None:
                raise Refused(404, 'workflowtemplates.argoproj.io "%s" not found' % spec["workflowTemplateRef"]["name"])
            values = {each["name"]: each for each in (spec.get("arguments") or {}).get("parameters", [])}
            spec = copy.deepcopy(template["spec"])
            for each in spec.get("arguments", {}).get("parameters", []):
                each.update(values.get(each["name"], {}))
            workflow["spec"] = spec
        templates = {each.get("name"): each for each in spec.get("templates", [])}
        if spec.get("entrypoint") not in templates:
            raise Refused(400, "spec.entrypoint is required and must be one of the templates")
        self.lint(spec)
        with self.changed:
            if (namespace, name) in self.workflows:
                raise Refused(409, 'workflows.argoproj.io "%s" already exists' % name)
            meta.update(name=name, namespace=namespace, uid=str(uuid.uuid4()))
            if dry_run:
                return workflow
            workflow["status"] = {}
            record = {"object": workflow, "log": [], "play": copy.deepcopy(self.play), "events": [], "process": None}
            self.workflows[(namespace, name)] = record
            self.tell(record, "ADDED")
        threading.Thread(target=self.work, args=(record,), daemon=True).start()
        return workflow

    @staticmethod
    def lint(spec):
        """As the controller: every {{…}} must resolve."""
        known = {"workflow.parameters.%s" % each["name"] for each in spec.get("arguments", {}).get("parameters", [])}
        for found in re.findall(r"\{\{(.*?)\}\}", json.dumps(spec)):
            if found.strip() not in known:
                raise Refused(400, "failed to resolve {{%s}}" % found)

    def tell(self, record, kind="MODIFIED"):
        self.version += 1
        record["object"]["metadata"]["resourceVersion"] = str(self.version)
        record["events"].append((kind, copy.deepcopy(record["object"])))
        self.changed.notify_all()

    def phase(self, record, phase, **more):
        with self.changed:
            status = record["object"]["status"]
            if status.get("phase") in FINAL:
                return
            status.update(phase=phase, **more)
            # Large ones are compressed: nobody may depend on status.nodes.
            status["compressedNodes"] = base64.b64encode(b"x" * 64).decode()
            self.tell(record)

    def work(self, record):
        play = record["play"]
        time.sleep(TICK)
        self.phase(record, "Pending")
        time.sleep(TICK)
        self.phase(record, "Running", progress="0/1")
        if self.options.run and "final" not in play:
            return self.run_container(record)
        for line in play.get("log", []):
            with self.changed:
                record["log"].append(line)
                self.changed.notify_all()
        for _ in range(play.get("steps", 3)):
            time.sleep(TICK)
            self.phase(record, "Running", progress="0/1")
        while play.get("hold") and record["object"]["status"].get("phase") not in FINAL:
            time.sleep(TICK)
        self.end(record, play.get("final", "Succeeded"), play.get("message", ""), play.get("results", ""))

    def end(self, record, phase, message, results):
        more = {}
        with self.changed:
            if record["play"].get("archive") or record["object"]["spec"].get("archiveLogs"):
                record["archived"] = "".join(line + "\n" for line in record["log"])
                node = record["object"]["metadata"]["name"] + "-1"
                more["nodes"] = {node: {"id": node, "type": "Pod", "outputs": {"artifacts": [{"name": "main-logs"}]}}}
            if record["play"].get("keep_log", True) is False:
                record["log"] = []
        outputs = {"parameters": [{"name": "results", "value": results}]} if results else {}
        self.phase(record, phase, message=message, outputs=outputs, progress="1/1", **more)

    def run_container(self, record):
        spec = record["object"]["spec"]
        values = {each["name"]: each.get("value", "") for each in spec["arguments"]["parameters"]}
        container = [each for each in spec["templates"] if each["name"] == spec["entrypoint"]][0]["container"]
        with tempfile.TemporaryDirectory() as folder:
            environment = {"PATH": os.environ["PATH"]}
            for each in container["env"]:
                if "value" in each:
                    environment[each["name"]] = re.sub(r"\{\{workflow\.parameters\.(.*?)\}\}",
                                                       lambda found: values[found.group(1)], each["value"])
            environment["STACKGATE_OUTPUT"] = os.path.join(folder, "output")
            process = subprocess.Popen(container["command"] + container["args"], env=environment, cwd=folder, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            record["process"] = process
            for line in process.stdout:
                with self.changed:
                    record["log"].append(line.rstrip("\n"))
                    self.changed.notify_all()
            status = process.wait()
        self.end(record, "Succeeded" if status == 0 else "Failed", "" if status == 0 else "Error (exit code %d)" % status, "")

    def find(self, namespace, name):
        record = self.workflows.get((namespace, name))
        if record is None:
            raise Refused(404, 'workflows.argoproj.io "%s" not found' % name)
        return record

    def stop(self, record, verb):
        if record["object"]["status"].get("phase") in FINAL:
            raise Refused(400, "cannot shutdown a completed workflow")
        self.phase(record, "Failed", message="Stopped with strategy '%s'" % ("Terminate" if verb == "terminate" else "Stop"))
        if record["process"] is not None:
            record["process"].terminate()

    def retry(self, record):
        if record["object"]["status"].get("phase") not in ("Failed", "Error"):
            raise Refused(400, "workflow must be Failed/Error to retry")
        with self.changed:
            record["object"]["status"] = {"phase": "Running"}
            record["play"] = copy.deepcopy(record["play"].get("then", self.play))
            self.tell(record)
        threading.Thread(target=self.work, args=(record,), daemon=True).start()


def chosen(tree, fields):
    """?fields=a.b,c.d keeps those, ?fields=-a.b leaves it out."""
    if not fields:
        return tree
    if fields.startswith("-"):
        out = copy.deepcopy(tree)
        for path in fields[1:].split(","):
            *before, last = path.split(".")
            at = out
            for key in before:
                at = at.get(key, {}) if isinstance(at, dict) else {}
            if isinstance(at, dict):
                at.pop(last, None)
        return out
    out = {}
    for path in fields.split(","):
        at, to = tree, out
        keys = path.split(".")
        if keys[0] == "items" and isinstance(tree.get("items"), list):
            rest = ".".join(keys[1:])
            out["items"] = [chosen(each, rest) for each in tree["items"]]
            continue
        for i, key in enumerate(keys):
            if not isinstance(at, dict) or key not in at:
                break
            at = at[key]
            if i == len(keys) - 1:
                to[key] = at
            else:
                to = to.setdefault(key, {})
    return out


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "argo-stand-in"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, message):
        self.answer(status, {"code": CODES.get(status, 2), "message": message})

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def cut(self):
        self.close_connection = True
        self.connection.close()

    def entry(self, result):
        text = json.dumps(result)
        self.chunk("data: %s\n\n" % text if self.is_sse else text + "\n")

    def begin_stream(self):
        self.is_sse = "text/event-stream" in self.headers.get("Accept", "")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.is_sse else "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.is_sse:
            self.chunk(":\n\n")

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        query = {key: values[0] for key, values in urllib.parse.parse_qs(url.query).items()}
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length) if length else b""
        try:
            if url.path.startswith("/-/"):
                return self.control(url.path, body)
            app.requests.append({"method": self.command, "path": self.path, "body": body.decode("utf-8", "replace"),
                                 "authorization": self.headers.get("Authorization", "")})
            self.authorize()
            self.route([urllib.parse.unquote(each) for each in url.path.strip("/").split("/")], query, body)
        except Refused as refused:
            self.refuse(refused.status, refused.message)
        except (BrokenPipeError, ConnectionResetError, OSError, ssl.SSLError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def control(self, path, body):
        if path == "/-/play":
            app.play = json.loads(body)
            app.streams = {"events": 0, "log": 0}
        elif path == "/-/template":
            template = json.loads(body)
            app.templates[(template["metadata"].get("namespace", ""), template["metadata"]["name"])] = template
        elif path == "/-/requests":
            return self.answer(200, app.requests)
        return self.answer(200, {})

    def authorize(self):
        given = self.headers.get("Authorization", "")
        if app.options.forbidden_token and given == "Bearer " + app.options.forbidden_token:
            raise Refused(403, 'workflows.argoproj.io is forbidden: User "system:serviceaccount:models:evaluator" cannot '
                               'list resource "workflows" in API group "argoproj.io" in the namespace "models"')
        if app.options.read_only_token and given == "Bearer " + app.options.read_only_token:
            if self.command == "GET":
                return
            raise Refused(403, 'workflows.argoproj.io is forbidden: User "system:serviceaccount:models:reader" cannot '
                               'create resource "workflows" in API group "argoproj.io" in the namespace "models"')
        if app.options.token and given != "Bearer " + app.options.token:
            raise Refused(401, "token not valid for running mode")

    def scripted(self, what):
        """An answer that stands before the real one."""
        waiting = app.play.get("fail", {}).get(what, [])
        if not waiting:
            return False
        how = waiting.pop(0)
        if how == "cut":
            self.cut()
        elif how == "html":
            self.answer(200, b"<html>a proxy's page</html>", "text/html")
        else:
            self.refuse(how, "the server was told to answer %d" % how)
        return True

    def artifact(self, namespace, name, node, artifact):
        record = app.find(namespace, name)
        if artifact != "main-logs" or "archived" not in record or node != name + "-1":
            return self.answer(404, b"Artifact not found", "text/plain")
        return self.answer(200, record["archived"].encode(), "text/plain; charset=UTF-8")

    def route(self, parts, query, body):
        if parts[:1] == ["artifacts"] and len(parts) == 5 and self.command == "GET":
            return self.scripted("artifact") or self.artifact(*parts[1:])
        if parts[:2] != ["api", "v1"] or len(parts) < 4:
            raise Refused(404, "Not Found")
        area, namespace, rest = parts[2], parts[3], parts[4:]
        if area == "workflow-events" and self.command == "GET":
            return self.scripted("events") or self.events(namespace, query)
        if area != "workflows":
            raise Refused(404, "Not Found")
        if self.command == "POST":
            return self.scripted("submit") or self.submit(namespace, rest, json.loads(body or b"{}"))
        if not rest:
            return self.scripted("list") or self.list(namespace, query)
        if self.command == "GET" and len(rest) == 2 and rest[1] == "log":
            return self.scripted("log") or self.log(namespace, rest[0], query)
        if self.command == "GET" and len(rest) == 1:
            return self.scripted("get") or self.answer(200, chosen(app.find(namespace, rest[0])["object"], query.get("fields")))
        if self.command == "PUT" and len(rest) == 2:
            return self.scripted(rest[1]) or self.change(namespace, rest[0], rest[1])
        if self.command == "DELETE" and len(rest) == 1:
            record = app.find(namespace, rest[0])
            with app.changed:
                del app.workflows[(namespace, rest[0])]
                app.tell(record, "DELETED")
            return self.answer(200, {})
        raise Refused(404, "Not Found")

    def submit(self, namespace, rest, body):
        if rest == ["submit"]:
            options = body.get("submitOptions", {})
            if body.get("resourceKind") != "WorkflowTemplate":
                raise Refused(400, "resource kind '%s' is not supported for submitting" % body.get("resourceKind"))
            parameters = [dict(zip(("name", "value"), each.split("=", 1))) for each in options.get("parameters", [])]
            labels = dict(each.split("=", 1) for each in options.get("labels", "").split(",") if each)
            body = {"serverDryRun": options.get("serverDryRun"),
                    "workflow": {"metadata": {"name": options.get("name"), "labels": labels,
                                              "generateName": options.get("generateName", body.get("resourceName", "") + "-")},
                                 "spec": {"workflowTemplateRef": {"name": body.get("resourceName")},
                                          "arguments": {"parameters": parameters}}}}
        elif rest and rest != ["lint"]:
            raise Refused(404, "Not Found")
        if not isinstance(body.get("workflow"), dict):
            raise Refused(400, "workflow body not specified")
        dry_run = bool(body.get("serverDryRun")) or rest == ["lint"]
        made = app.create(namespace, body["workflow"], dry_run)
        if dry_run:
            return self.answer(200, made)
        if app.play.get("cut_after_submit"):
            app.play["cut_after_submit"] = False
            return self.cut()
        return self.answer(200, made)

    def list(self, namespace, query):
        found = [each["object"] for (of, _), each in sorted(app.workflows.items()) if of == namespace]
        for pair in filter(None, query.get("listOptions.labelSelector", "").split(",")):
            key, value = pair.split("=", 1)
            found = [each for each in found if each["metadata"].get("labels", {}).get(key) == value]
        begin, limit = int(query.get("listOptions.continue", 0)), int(query.get("listOptions.limit", 0))
        page = found[begin:begin + limit] if limit else found[begin:]
        more = str(begin + limit) if limit and begin + limit < len(found) else ""
        self.answer(200, chosen({"metadata": {"continue": more} if more else {}, "items": page or None}, query.get("fields")))

    def change(self, namespace, name, verb):
        record = app.find(namespace, name)
        if verb in ("stop", "terminate"):
            if verb == "terminate" or not record["play"].get("ignore_stop"):
                app.stop(record, verb)
        elif verb == "retry":
            app.retry(record)
        elif verb not in ("resubmit", "suspend", "resume"):
            raise Refused(404, "Not Found")
        self.answer(200, record["object"])

    def events(self, namespace, query):
        name = query.get("listOptions.fieldSelector", "").removeprefix("metadata.name=")
        app.streams["events"] += 1
        first = app.streams["events"] == 1
        self.begin_stream()
        if first and app.play.get("error_in_stream"):
            self.entry({"error": {"grpc_code": 14, "http_code": 503, "message": "the watch was closed", "http_status": "Service Unavailable"}})
            return self.chunk("")
        record, sent = app.workflows.get((namespace, name)), 0
        at = max(len(record["events"]) - 1, 0) if record else 0
        while record is not None:
            with app.changed:
                app.changed.wait_for(lambda: len(record["events"]) > at, timeout=1)
                waiting = record["events"][at:]
            at += len(waiting)
            for kind, workflow in waiting:
                if first and sent == app.play.get("cut_events", -1):
                    return self.cut()
                self.entry({"result": {"type": kind, "object": workflow}})
                sent += 1
            if not waiting and self.is_sse:
                self.chunk(":\n\n")
        return self.chunk("")

    def log(self, namespace, name, query):
        record = app.find(namespace, name)
        follow, first = query.get("logOptions.follow") == "true", app.streams["log"] == 0
        app.streams["log"] += 1
        self.begin_stream()
        at = 0
        while True:
            with app.changed:
                lines, ended = record["log"][at:], record["object"]["status"].get("phase") in FINAL
            for line in lines:
                if first and at == app.play.get("cut_log", -1):
                    return self.cut()
                at += 1
                self.entry({"result": {"content": line, "podName": name}})
            if not follow or (ended and not lines):
                return self.chunk("")
            with app.changed:
                app.changed.wait(timeout=0.2)


parser = argparse.ArgumentParser()
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--token", default="")
parser.add_argument("--forbidden-token", default="")
parser.add_argument("--read-only-token", default="")
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--run", action="store_true")
parser.add_argument("--port-file")
app = Server(parser.parse_args())
httpd = ThreadingHTTPServer((app.options.host, app.options.port), Handler)
httpd.daemon_threads = True
if app.options.cert:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(app.options.cert, app.options.key)
    httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
if app.options.port_file:
    with open(app.options.port_file + ".new", "w", encoding="ascii") as file:
        file.write(str(httpd.server_address[1]))
    os.rename(app.options.port_file + ".new", app.options.port_file)
print("listening on %d" % httpd.server_address[1], flush=True)
httpd.serve_forever()
