"""Random requests, signed by botocore and by the program given as argument; each difference is shown.

usage: sigv4_oracle.py PROGRAM COUNT SEED
"""
import datetime
import hashlib
import json
import random
import string
import subprocess
import sys
from urllib.parse import quote, urlsplit

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

PRINTABLE = string.ascii_letters + string.digits + " !\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\"
WORDS = PRINTABLE + "äöß€語🙂\n\t"


def text(dice, alphabet, least, most):
    return "".join(dice.choice(alphabet) for _ in range(dice.randint(least, most)))


def make_case(dice):
    port = dice.choice(["", "", ":80", ":443", ":7480", ":9000"])
    scheme = dice.choice(["http", "https"])
    # A host header leaves the scheme's own port out.
    host = dice.choice(["s3.example", "my-bucket.s3.eu-west-1.amazonaws.com", "127.0.0.1", "rgw"])
    authority = host + ("" if (scheme, port) in (("http", ":80"), ("https", ":443")) else port)
    query = {}
    for _ in range(dice.randint(0, 5)):
        query[text(dice, WORDS, 1, 12)] = text(dice, WORDS, 0, 40)
    if dice.random() < 0.3:
        query["response-content-disposition"] = 'attachment; filename="' + text(dice, WORDS, 1, 30) + '"'
    headers = {"host": authority}
    for _ in range(dice.randint(0, 3)):
        headers["x-amz-meta-" + text(dice, string.ascii_lowercase + string.digits, 1, 8)] = text(dice, PRINTABLE, 1, 30)
    if dice.random() < 0.4:
        headers["content-length"] = str(dice.randint(0, 10**12))
    if dice.random() < 0.2:
        headers["range"] = "bytes=0-9"
    mode = dice.choice(["presign", "headers"])
    body = text(dice, WORDS, 0, 50).encode()
    unsigned = dice.random() < 0.3
    return {
        "mode": mode,
        "method": dice.choice(["GET", "PUT", "HEAD", "POST", "DELETE"]),
        "url": f"{scheme}://{host}{port}",
        "path": "/" + text(dice, WORDS + "////", 0, 60),
        "query": list(query.items()),
        "headers": list(headers.items()),
        "time": dice.randint(0, 4102444799),
        "expires": dice.randint(1, 604800),
        "payload": "UNSIGNED-PAYLOAD" if unsigned else hashlib.sha256(body).hexdigest(),
        "access_key": text(dice, string.ascii_uppercase + string.digits, 16, 20),
        "secret_key": text(dice, string.ascii_letters + string.digits + "/+=", 20, 44),
        "token": text(dice, string.ascii_letters + "/+=", 10, 100) if dice.random() < 0.3 else "",
        "region": dice.choice(["us-east-1", "eu-central-1", "default", "auto"]),
        "body": body.decode(),
        "unsigned": unsigned,
    }


class ClientConfig:
    s3 = {"payload_signing_enabled": False}


def ask_botocore(case):
    moment = datetime.datetime.fromtimestamp(case["time"], datetime.timezone.utc)
    if hasattr(botocore.auth, "get_current_datetime"):
        botocore.auth.get_current_datetime = lambda *_, **__: moment
    else:
        class Frozen(datetime.datetime):
            @classmethod
            def utcnow(cls):
                return moment.replace(tzinfo=None)
        botocore.auth.datetime = type("module", (), {"datetime": Frozen, "timezone": datetime.timezone})
    query = "&".join(quote(k, safe="-_.~") + "=" + quote(v, safe="-_.~") for k, v in case["query"])
    url = case["url"] + quote(case["path"], safe="/~") + ("?" + query if query else "")
    request = AWSRequest(method=case["method"], url=url, data=case["body"].encode())
    for name, value in case["headers"]:
        if name != "host":
            request.headers[name] = value
    credentials = Credentials(case["access_key"], case["secret_key"], case["token"] or None)
    if case["mode"] == "presign":
        request.data = b""
        botocore.auth.S3SigV4QueryAuth(credentials, "s3", case["region"], case["expires"]).add_auth(request)
        parts = urlsplit(request.url)
        return parts.path + "?" + parts.query
    if case["unsigned"]:
        request.context["client_config"] = ClientConfig
    botocore.auth.S3SigV4Auth(credentials, "s3", case["region"]).add_auth(request)
    return request.headers["Authorization"]


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    dice = random.Random(seed)
    cases = [make_case(dice) for _ in range(count)]
    told = "".join(json.dumps(case) + "\n" for case in cases)
    ours = subprocess.run([program], input=told.encode(), stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[:-1]
    if len(ours) != count:
        sys.exit(f"{len(ours)} answers to {count} cases")
    wrong = 0
    for case, mine in zip(cases, ours):
        theirs = ask_botocore(case)
        if mine != theirs:
            wrong += 1
            if wrong <= 3:
                print(json.dumps(case), mine, theirs, sep="\n  ", file=sys.stderr)
    print(count, wrong, sum(case["mode"] == "presign" for case in cases))
    sys.exit(1 if wrong else 0)


main()
