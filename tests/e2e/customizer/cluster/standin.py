"""A cluster's controllers, schedulers and one node, as far as customizations need them: Jobs and Volcano Jobs get pods,
pods run as processes of this machine, and states move as the real ones' documentation shows.

    standin.py --server URL --pki DIR --namespace NS --dir DIR --bin DIR --port-file FILE

The program of a pod is its image's name in the binaries' folder; claims are folders of DIR/claims, and paths in its
variables are led there. Its log is served as a kubelet does it. Files in DIR are switches:

    hold      the queue takes nothing in. Volcano: PodGroups stay Pending, and no pods are made. Kueue: Workloads get no quota.
              KAI, Run:ai: pods stay as they are, without a word
    full      there is no room: PodGroups are Unschedulable, and so are pods
    evict     a training's pod is evicted once: Failed, reason Evicted; by KAI and Run:ai, which reclaim: DisruptionTarget, deleted
    preempt   Kueue takes the quota of a training back, once
    still     nothing is done at all

Sources, for each transition beside it:
  Volcano   https://volcano.sh/en/docs/vcjob/ and /podgroup/; pkg.go.dev/volcano.sh/apis
  Kueue     https://kueue.sigs.k8s.io/docs/concepts/workload/ and /docs/tasks/troubleshooting/troubleshooting_jobs/; the
            conditions' reasons: /docs/reference/kueue.v1beta1/
  KAI       https://github.com/NVIDIA/KAI-Scheduler/tree/main/docs: queues, fairness (reclaim), and pkg/scheduler/cache/evictor;
            Run:ai's scheduler is its parent
  the rest  Kubernetes' Job, Pod lifecycle and garbage collection pages
"""
import argparse
import base64
import datetime
import http.client
import http.server
import json
import os
import re
import signal
import ssl
import subprocess
import threading
import time
import urllib.parse

ROUND = 0.15
strategic = "application/strategic-merge-patch+json"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Api:
    def __init__(self, server, pki):
        where = urllib.parse.urlparse(server)
        self.address = (where.hostname, where.port)
        self.tls = ssl.create_default_context(cafile=f"{pki}/cluster-ca.crt")
        self.tls.load_cert_chain(f"{pki}/admin.crt", f"{pki}/admin.key")
        self.connection = None

    def call(self, method, path, body=None, kind="application/json"):
        for attempt in (1, 2):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPSConnection(*self.address, context=self.tls, timeout=10)
                self.connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
                answer = self.connection.getresponse()
                return answer.status, json.loads(answer.read() or b"{}")
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt == 2:
                    return 0, {}

    def items(self, path):
        status, answer = self.call("GET", path)
        if status != 200:  # not known is not none
            raise OSError(f"{path}: {status}")
        return answer.get("items", [])

    def merge(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")


class Process:
    """A pod that runs: its program, its log with a time in front of each line."""

    def __init__(self, command, environment, log):
        self.lines = []
        self.raw = open(log, "wb")
        self.running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.running.stdout:
            stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f000Z ")
            self.lines.append((stamp, line.decode(errors="replace")))

    def ended(self):
        code = self.running.poll()
        if code is None or self.reader.is_alive():
            return None
        return code if code >= 0 else 128 - code

    def end(self, how):
        try:
            os.killpg(self.running.pid, how)
        except ProcessLookupError:
            pass


class StandIn:
    def __init__(self, options):
        self.api = Api(options.server, options.pki)
        self.other_api = lambda: Api(options.server, options.pki)  # of another thread
        self.dir, self.bin, self.ns = options.dir, options.bin, options.namespace
        self.core = f"/api/v1/namespaces/{self.ns}"
        self.batch = f"/apis/batch/v1/namespaces/{self.ns}/jobs"
        self.volcano = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{self.ns}/jobs"
        self.workloads = f"/apis/kueue.x-k8s.io/v1beta1/namespaces/{self.ns}/workloads"
        self.groups = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{self.ns}/podgroups"
        self.kai_groups = f"/apis/scheduling.run.ai/v2alpha2/namespaces/{self.ns}/podgroups"
        self.processes = {}  # by the pod's uid
        self.by_name = {}
        self.evicted = set()
        self.lost = {}  # Jobs, by uid, a pod of which was evicted and is not counted yet: it is "running" or "failed"
        self.numbers = 0

    def on(self, switch):
        return os.path.exists(f"{self.dir}/{switch}")

    # --- pods

    def make_pod(self, template, name, owner, kind, version, annotations=None):
        metadata = json.loads(json.dumps(template.get("metadata", {})))
        metadata.pop("creationTimestamp", None)
        metadata.update(name=name, ownerReferences=[
            {"apiVersion": version, "kind": kind, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
             "controller": True}])
        metadata.setdefault("annotations", {}).update(annotations or {})
        spec = dict(template["spec"], automountServiceAccountToken=False)
        return self.api.call("POST", f"{self.core}/pods", {"metadata": metadata, "spec": spec})

    def event(self, about, kind, reason, message):
        self.numbers += 1
        self.api.call("POST", f"{self.core}/events", {
            "metadata": {"name": f"{about}.{self.numbers}-{os.getpid()}"}, "type": "Warning", "reason": reason, "message": message,
            "involvedObject": {"kind": kind, "name": about, "namespace": self.ns}, "lastTimestamp": now()})

    def volume(self, spec, name, pod):
        for each in spec.get("volumes", []):
            if each["name"] != name:
                continue
            if "persistentVolumeClaim" in each:
                return f"{self.dir}/claims/{each['persistentVolumeClaim']['claimName']}"
            path = f"{self.dir}/pods/{pod}/{name}"
            os.makedirs(path, exist_ok=True)
            for source, member, decode in (("configMap", "name", str.encode), ("secret", "secretName", base64.b64decode)):
                if source in each:
                    plural = "configmaps" if source == "configMap" else "secrets"
                    status, found = self.api.call("GET", f"{self.core}/{plural}/{each[source][member]}")
                    if status != 200:
                        return None
                    for key, text in found.get("data", {}).items():
                        with open(f"{path}/{key}", "wb") as file:
                            file.write(decode(text))
            return path
        return None

    def variable(self, each, pod):
        source = each.get("valueFrom", {})
        if "secretKeyRef" in source:
            found = self.api.call("GET", f"{self.core}/secrets/{source['secretKeyRef']['name']}")[1]
            return base64.b64decode(found["data"][source["secretKeyRef"]["key"]]).decode()
        if "fieldRef" in source:
            key = re.search(r"'(.*)'", source["fieldRef"]["fieldPath"])
            return pod["metadata"].get("annotations", {}).get(key.group(1), "") if key else ""
        return each.get("value", "")

    def run(self, pod):
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        container = pod["spec"]["containers"][0]
        places = {}
        for mount in container.get("volumeMounts", []):
            path = self.volume(pod["spec"], mount["name"], name)
            if path is None:
                return
            path = os.path.join(path, mount.get("subPath", ""))
            os.makedirs(path, exist_ok=True)
            if mount["mountPath"] != "/dev/shm":
                places[mount["mountPath"]] = path.rstrip("/")
        longest = sorted(places, key=len, reverse=True)
        pattern = rf"(^|,)({'|'.join(map(re.escape, longest)) or 'x^'})(?=/|,|$)"
        environment = {"PATH": os.environ["PATH"], "HOME": self.dir}
        for each in container.get("env", []):
            text = self.variable(each, pod)
            environment[each["name"]] = re.sub(pattern, lambda found: found.group(1) + places[found.group(2)], text)
        program = container["image"].split("/")[-1].split(":")[0]
        process = Process([f"{self.bin}/stackgate-{program}", *container.get("args", [])], environment, f"{self.dir}/log")
        self.processes[uid] = self.by_name[name] = process
        self.pod_status(name, "Running", {"running": {"startedAt": now()}}, True)

    def pod_status(self, name, phase, state, ready, **more):
        flag = "True" if ready else "False"
        self.api.merge(f"{self.core}/pods/{name}/status", {"status": {
            "phase": phase, "startTime": now(), **more,
            "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": flag}],
            "containerStatuses": [{"name": self.container_of(name), "image": "x", "imageID": "", "restartCount": 0,
                                   "ready": ready, "state": state}]}})

    def container_of(self, name):
        return self.containers.get(name, "trainer")

    def look_at_pod(self, pod, owners):
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        phase, process = pod["status"].get("phase"), self.processes.get(uid)
        self.containers[name] = pod["spec"]["containers"][0]["name"]
        owned = [each["uid"] for each in pod["metadata"].get("ownerReferences", [])]
        if pod["metadata"].get("deletionTimestamp") or (owned and not owners.intersection(owned)):
            if process is not None and process.running.poll() is None:
                return process.end(signal.SIGTERM)
            # A Job's pod stays until the Job has counted it.
            if owned and owned[0] in self.lost and process is not None and process.ended() is None:
                return None
            if owned and self.lost.get(owned[0]) == "running":
                self.lost[owned[0]] = "failed"
                return self.api.call("PATCH", f"{self.core}/pods/{name}/status", {"status": {
                    "phase": "Failed", "containerStatuses": [{
                        "name": self.container_of(name), "image": "x", "imageID": "", "restartCount": 0, "ready": False,
                        "state": {"terminated": {"exitCode": process.ended(), "finishedAt": now()}}}]}}, strategic)
            if owned and self.lost.get(owned[0]) == "failed":
                return None
            return self.api.call("DELETE", f"{self.core}/pods/{name}", {"gracePeriodSeconds": 0})
        reclaims = pod["spec"].get("schedulerName") in ("kai-scheduler", "runai-scheduler")
        if phase == "Pending" and not pod["spec"].get("nodeName"):
            if reclaims and self.on("hold"):
                return None
            if self.on("full"):
                return self.api.merge(f"{self.core}/pods/{name}/status", {"status": {"conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                     "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}]}})
            return self.api.call("POST", f"{self.core}/pods/{name}/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                "target": {"apiVersion": "v1", "kind": "Node", "name": "standin"}})
        if phase == "Pending" and process is None:
            return self.run(pod)
        if phase != "Running" or process is None:
            return None
        if self.on("evict") and uid not in self.evicted and name.split("-")[2] == "training":
            self.evicted.add(uid)
            os.remove(f"{self.dir}/evict")
            if reclaims:
                self.lost[owned[0]] = "running"
                self.api.call("PATCH", f"{self.core}/pods/{name}/status", {"status": {"conditions": [
                    {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
                     "message": "reclaimed by a job of a queue under its quota"}]}}, strategic)
                return self.api.call("DELETE", f"{self.core}/pods/{name}")
            process.end(signal.SIGKILL)
            return self.api.merge(f"{self.core}/pods/{name}/status", {"status": {
                "phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}})
        code = process.ended()
        if code is None:
            return None
        last = "".join(line for _, line in process.lines[-1:])
        return self.pod_status(name, "Failed" if code else "Succeeded", {"terminated": {
            "exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": now(),
            "message": last if code else ""}}, False)

    # --- Jobs

    def look_at_job(self, job, pods, workloads):
        name, status = job["metadata"]["name"], job.get("status", {})
        if any(each["type"] in ("Complete", "Failed") for each in status.get("conditions", [])):
            return
        own = self.owned(job, pods)
        queue = job["metadata"].get("labels", {}).get("kueue.x-k8s.io/queue-name")
        # The pods of a suspended Job are deleted. (Before Kubernetes 1.21 the member is not stored: here the label counts.)
        if queue is not None and not self.is_admitted(job, queue, workloads):
            for each in own:
                if not each["metadata"].get("deletionTimestamp"):
                    self.api.call("DELETE", f"{self.core}/pods/{each['metadata']['name']}")
            return
        template = job["spec"]["template"]
        if template["spec"].get("schedulerName") == "kai-scheduler" and not own:
            self.group_pods(job, template)
        limit = job["spec"].get("backoffLimit", 6)
        failed = [each for each in own if each["status"].get("phase") == "Failed"]
        finished = {"startTime": status.get("startTime", now())}
        if any(each["status"].get("phase") == "Succeeded" for each in own):
            finished["conditions"] = [{"type": "Complete", "status": "True", "lastTransitionTime": now()}]
        elif len(failed) > limit:
            self.lost.pop(job["metadata"]["uid"], None)
            finished["conditions"] = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                                       "message": "Job has reached the specified backoff limit", "lastTransitionTime": now()}]
        elif len(failed) == len(own):
            code, answer = self.make_pod(template, f"{name}-{len(own)}{os.getpid() % 1000}x", job, "Job", "batch/v1")
            if code == 403 and not status.get("startTime"):
                self.event(name, "Job", "FailedCreate", f"Error creating: {answer.get('message')}")
        if "conditions" in finished or not status.get("startTime"):
            self.api.merge(f"{self.batch}/{name}/status", {"status": finished})

    def group_pods(self, job, template):
        """KAI's pod-grouper: a PodGroup for whatever owns pods."""
        name, uid = job["metadata"]["name"], job["metadata"]["uid"]
        self.api.call("POST", self.kai_groups, {
            "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": f"pg-{name}-{uid}", "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}]},
            "spec": {"minMember": 1, "queue": template["metadata"]["labels"]["kai.scheduler/queue"]}})

    def is_admitted(self, job, queue, workloads):
        """Kueue's part: a Workload for the Job, quota for it, and perhaps not for ever."""
        workload = next(iter(self.owned(job, workloads)), None)
        if workload is None:
            uid = job["metadata"]["uid"]
            self.api.call("POST", self.workloads, {
                "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
                "metadata": {"name": f"job-{job['metadata']['name']}-{uid[:5]}", "labels": {"kueue.x-k8s.io/job-uid": uid},
                             "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"],
                                                  "uid": uid, "controller": True}]},
                "spec": {"queueName": queue, "active": True}})
            return False
        states = {each["type"]: each for each in workload.get("status", {}).get("conditions", [])}

        def put(**conditions):
            for kind, (state, reason, message) in conditions.items():
                states[kind] = {"type": kind, "status": state, "reason": reason, "message": message, "lastTransitionTime": now()}
            self.api.merge(f"{self.workloads}/{workload['metadata']['name']}/status", {"status": {"conditions": list(states.values())}})

        if states.get("Admitted", {}).get("status") == "True":
            if not self.on("preempt"):
                return True
            os.remove(f"{self.dir}/preempt")
            why = "Preempted to accommodate a workload (UID: 1) due to prioritization in the ClusterQueue"
            put(Evicted=("True", "Preempted", why), QuotaReserved=("False", "Pending", why),
                Admitted=("False", "NoReservation", "The workload has no reservation"))
            return False
        if self.on("hold"):
            if "QuotaReserved" not in states:
                put(QuotaReserved=("False", "Pending", "couldn't assign flavors to pod set main: insufficient unused quota for "
                                   "cpu in flavor default-flavor, 1 more needed"))
            return False
        put(QuotaReserved=("True", "QuotaReserved", "Quota reserved in ClusterQueue cluster"),
            Admitted=("True", "Admitted", "The workload is admitted"))
        return True

    def phase(self, job, phase, **more):
        self.api.merge(f"{self.volcano}/{job['metadata']['name']}/status",
                       {"status": {"state": {"phase": phase, "lastTransitionTime": now()}, **more}})

    @staticmethod
    def owned(job, pods):
        return [each for each in pods
                if any(owner["uid"] == job["metadata"]["uid"] for owner in each["metadata"].get("ownerReferences", []))]

    def look_at_volcano_job(self, job, pods, groups):
        name, phase = job["metadata"]["name"], job.get("status", {}).get("state", {}).get("phase")
        if phase in ("Completed", "Aborted", "Failed", "Terminated"):
            return
        task = job["spec"]["tasks"][0]
        group = next((each for each in groups if self.owned(job, [each])), None)
        if group is None:
            self.phase(job, "Pending")
            self.api.call("POST", self.groups, {
                "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                "metadata": {"name": f"{name}-{job['metadata']['uid']}", "ownerReferences": [
                    {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": name, "uid": job["metadata"]["uid"],
                     "controller": True}]},
                "spec": {"minMember": job["spec"]["minAvailable"], "queue": job["spec"].get("queue", "default")}})
            return
        where = f"{self.groups}/{group['metadata']['name']}/status"
        if self.on("hold"):
            self.api.merge(where, {"status": {"phase": "Pending"}})
            return
        own = self.owned(job, pods)
        if not own and phase != "Restarting":
            self.api.merge(where, {"status": {"phase": "Inqueue"}})
        for index in range(len(own), task["replicas"]):
            self.make_pod(task["template"], f"{name}-{task['name']}-{index}", job, "Job", "batch.volcano.sh/v1alpha1",
                          {"volcano.sh/task-index": str(index), "volcano.sh/job-name": name})
        phases = [each["status"].get("phase") for each in own]
        if self.on("full") and "Pending" in phases:
            message = f"{len(own)}/{len(own)} tasks in gang unschedulable: pod group is not ready, {len(own)} Pending"
            self.api.merge(where, {"status": {"phase": "Inqueue", "conditions": [
                {"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources", "message": message,
                 "lastTransitionTime": now()}]}})
            return
        if phases and all(each == "Succeeded" for each in phases):
            self.api.merge(where, {"status": {"phase": "Completed"}})
            self.phase(job, "Completed", succeeded=len(own))
        elif "Failed" in phases:
            self.fail(job, [each for each in own if each["status"].get("phase") == "Failed"][0])
        elif phases and all(each == "Running" for each in phases) and phase != "Running":
            self.api.merge(where, {"status": {"phase": "Running", "conditions": []}})
            self.phase(job, "Running", running=len(own))

    def fail(self, job, pod):
        """By its policies: the first that fits."""
        evicted = pod["status"].get("reason") == "Evicted"
        code = next((each["state"]["terminated"]["exitCode"] for each in pod["status"].get("containerStatuses", [])
                     if "terminated" in each.get("state", {})), None)
        for policy in job["spec"].get("policies", []):
            fits = policy.get("event") == "PodEvicted" and evicted or policy.get("event") == "PodFailed"
            if not fits and policy.get("exitCode") != code:
                continue
            if policy["action"] != "RestartJob":
                self.phase(job, "Aborted")
                return
            self.phase(job, "Restarting", retryCount=job.get("status", {}).get("retryCount", 0) + 1)
            self.api.call("DELETE", f"{self.core}/pods/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})
            return

    # --- rounds

    def look(self):
        if self.on("still"):
            return
        jobs, volcano = self.api.items(self.batch), self.api.items(self.volcano)
        workloads = self.api.items(self.workloads)
        groups, pods = self.api.items(self.groups), self.api.items(f"{self.core}/pods")
        kai_groups = self.api.items(self.kai_groups)
        owners = {each["metadata"]["uid"] for each in jobs + volcano}
        for each in pods:
            self.look_at_pod(each, owners)
        for each in jobs:
            self.look_at_job(each, pods, workloads)
        for each in volcano:
            self.look_at_volcano_job(each, pods, groups)
        owning = ((self.groups, groups), (self.kai_groups, kai_groups), (self.workloads, workloads))
        for where, each in [(where, each) for where, all_of in owning for each in all_of]:
            owned = [owner["uid"] for owner in each["metadata"].get("ownerReferences", [])]
            if owned and not owners.intersection(owned):
                self.api.call("DELETE", f"{where}/{each['metadata']['name']}")
        used = {volume["persistentVolumeClaim"]["claimName"] for each in pods for volume in each["spec"].get("volumes", [])
                if "persistentVolumeClaim" in volume and each["status"].get("phase") in ("Pending", "Running")}
        for each in self.api.items(f"{self.core}/persistentvolumeclaims"):
            name = each["metadata"]["name"]
            if each["metadata"].get("deletionTimestamp") and name not in used:
                self.api.merge(f"{self.core}/persistentvolumeclaims/{name}", {"metadata": {"finalizers": None}})

    def pending_workloads(self, queue):
        """Kueue's visibility API: /docs/tasks/manage/monitor_pending_workloads/pending_workloads_on_demand/"""
        waiting = [each for each in self.other_api().items(self.workloads) if each["spec"].get("queueName") == queue and not any(
            condition["type"] == "QuotaReserved" and condition["status"] == "True"
            for condition in each.get("status", {}).get("conditions", []))]
        waiting.sort(key=lambda each: each["metadata"]["creationTimestamp"])
        return {"kind": "PendingWorkloadsSummary", "apiVersion": "visibility.kueue.x-k8s.io/v1beta1", "items": [
            {"metadata": {key: each["metadata"].get(key) for key in ("name", "namespace", "ownerReferences", "creationTimestamp")},
             "priority": 0, "localQueueName": queue, "positionInClusterQueue": number, "positionInLocalQueue": number}
            for number, each in enumerate(waiting)]}

    def follow(self):
        self.containers = {}
        while True:
            try:
                self.look()
            except (KeyError, OSError, http.client.HTTPException) as error:
                print("standin:", repr(error), flush=True)
            time.sleep(ROUND)


def serve_logs(standin, certificate, port_file):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # /containerLogs/NAMESPACE/POD/CONTAINER?timestamps=true&sinceTime=…&limitBytes=…
            where = urllib.parse.urlparse(self.path)
            if where.path.startswith("/apis/visibility.kueue.x-k8s.io"):
                return self.answer(200, json.dumps(self.visible(where.path.split("/")[4:])).encode(), "application/json")
            query = urllib.parse.parse_qs(where.query)
            process = standin.by_name.get(where.path.split("/")[3])
            since = query.get("sinceTime", [""])[0][:19]
            stamps = query.get("timestamps") == ["true"]
            lines = [(stamp if stamps else "") + line for stamp, line in (process.lines if process else []) if stamp[:19] >= since]
            body = "".join(lines).encode()[:int(query.get("limitBytes", ["1000000000"])[0])]
            return self.answer(200 if process else 404, body, "text/plain")

        @staticmethod
        def visible(path):  # [] or namespaces/NAMESPACE/localqueues/QUEUE/pendingworkloads
            if len(path) == 5:
                return standin.pending_workloads(path[3])
            return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "visibility.kueue.x-k8s.io/v1beta1", "resources": [
                {"name": "localqueues/pendingworkloads", "singularName": "", "namespaced": True, "kind": "PendingWorkloadsSummary", "verbs": ["get"]}]}

        def answer(self, status, body, kind):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(f"{certificate}/apiserver.crt", f"{certificate}/apiserver.key")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    standin.api.call("POST", "/api/v1/nodes", {"metadata": {"name": "standin"}})
    standin.api.merge("/api/v1/nodes/standin/status", {"status": {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": server.server_port}}}})
    with open(port_file, "w") as file:
        file.write(str(server.server_port))
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main():
    parser = argparse.ArgumentParser()
    for name in ("server", "pki", "namespace", "dir", "bin", "port-file"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    standin = StandIn(options)

    def end(*_):
        for each in standin.processes.values():
            each.end(signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    serve_logs(standin, options.pki, options.port_file)
    standin.follow()


main()
