"""A backend in Python 3.11 without packages. docs/guides/backends/register.md explains the steps.

It registers and sends heartbeats. When a trigger calls, it verifies the signature, asks a partner through the ESB for the stock of
each tenant, and notifies the people of the tenant.

It needs an application with a tenant, a trigger, an endpoint /stock and a machine user that may call it. For a callback URL on
this machine, the Manager needs SVC_CALLBACKS_ALLOWED_CIDRS=127.0.0.0/8.

    MANAGER_URL=http://127.0.0.1:8080 MACHINE_TOKEN_FILE=token APPLICATION_ID=... \\
    CALLBACK_URL=http://127.0.0.1:9100/callbacks PORT=9100 python3 examples/backend.py
"""

import base64
import collections
import hashlib
import hmac
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MANAGER_URL = os.environ["MANAGER_URL"]
APPLICATION_ID = os.environ["APPLICATION_ID"]
CALLBACK_URL = os.environ["CALLBACK_URL"]
MACHINE_TOKEN_FILE = os.environ["MACHINE_TOKEN_FILE"]
HEARTBEAT_SECONDS = float(os.environ.get("HEARTBEAT_SECONDS", "30"))
MAX_BODY_BYTES = 65_536
MAX_CONNECTIONS = 64
MAX_RUNS = 8
MAX_REMEMBERED = 1_000
STOP_SECONDS = 20

lock = threading.Lock()
registration = None
must_register = True
# The previous secret stays valid for callbacks that were sent before the last registration.
secrets = []
# A run can arrive twice. If its work must not happen twice after a restart, store the ids with your data.
taken = collections.OrderedDict()
runs = threading.BoundedSemaphore(MAX_RUNS)
stopping = threading.Event()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects, so that no other host receives the machine token."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


class Rejected(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def say(line):
    print(line, flush=True)


def ask(method, path, body=None, headers=None):
    """Calls the Manager and returns the parsed response."""
    # Read for every request, so that a rotated token is used immediately.
    with open(MACHINE_TOKEN_FILE, encoding="utf-8") as file:
        token = file.read().strip()
    request = urllib.request.Request(
        MANAGER_URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})},
    )
    try:
        with opener.open(request, timeout=30) as response:
            return json.loads(response.read() or b"{}")
    except urllib.error.HTTPError as error:
        reason = error.read(500).decode("utf-8", "replace")
        raise Rejected(error.code, f"{method} {path} returned {error.code}: {reason}") from None


def is_alive():
    """Sends a heartbeat; false if the registration is gone or belongs to another machine user."""
    if registration is None or must_register:
        return False
    try:
        ask("PUT", f"/api/machine/backend/{registration}/heartbeat")
    except Rejected as error:
        if error.status in (403, 404):
            return False
        raise
    return True


def beat():
    """Sends a heartbeat, or registers."""
    global registration, must_register
    if is_alive():
        return
    body = {"application_id": APPLICATION_ID, "callback_url": CALLBACK_URL, "version": "1.0.0"}
    answer = ask("POST", "/api/machine/register-backend", body)
    with lock:
        registration, must_register = answer["registered_id"], False
        secrets[:] = [answer["signing_secret"], *secrets[:1]]


def is_signed_with(secret, headers, body):
    """Verifies the signature and the time of a callback (Standard Webhooks)."""
    sent_at = headers.get("webhook-timestamp", "")
    if not is_number(sent_at) or abs(time.time() - int(sent_at)) > 300:
        return False
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"))
    except ValueError:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, one.encode()) for one in signatures)


def is_number(text):
    return len(text) <= 12 and text.isascii() and text.isdigit()


def work(run, run_key):
    """Does the work of a run, once per tenant."""
    for tenant in ask("GET", f"/api/machine/application/{APPLICATION_ID}/tenants")["tenants"]:
        stock = ask("POST", f"/esb/{APPLICATION_ID}/stock", {"tenant": tenant["name"]})
        notification = {
            "application_id": APPLICATION_ID,
            "tenant_id": tenant["id"],
            "title": f"Tulips left: {stock['left']}",
            "data": {"left": stock["left"]},
        }
        # The run id in the key ensures that only one notification is created.
        ask("POST", "/api/machine/comms/emit", notification, {"Idempotency-Key": f"{run} {tenant['id']}"})
        say(f"{run_key} for {tenant['name']}")


def work_and_report(run, run_key):
    try:
        work(run, run_key)
    except Exception as error:
        say(f"failed: {error}")
    finally:
        runs.release()


def receive(headers, body):
    """Accepts a callback and returns the status of the response."""
    global must_register
    with lock:
        known = list(secrets)
    if not any(is_signed_with(secret, headers, body) for secret in known):
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if not is_signed_with(token, headers, body):
            return 401
        # Another instance registered as the same machine user. The next heartbeat registers again, and the Manager retries.
        must_register = True
        return 503
    run, run_key = headers["webhook-id"], json.loads(body)["run_key"]
    with lock:
        if run in taken:
            return 204
        # The Manager retries a run that is rejected here.
        if stopping.is_set() or not runs.acquire(blocking=False):
            return 503
        taken[run] = True
        while len(taken) > MAX_REMEMBERED:
            taken.popitem(last=False)
    # The Manager waits at most 30 s, so the response is sent before the work starts.
    threading.Thread(target=work_and_report, args=(run, run_key), daemon=True).start()
    return 204


class Callbacks(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A client that sends nothing must not occupy a thread.
    timeout = 10

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not is_number(length) or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413)
        return self.answer(receive(self.headers, self.rfile.read(int(length))))

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    slots = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request, client_address):
        self.slots.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.slots.release()


def main():
    server = Server((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "9100"))), Callbacks)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while not stopping.is_set():
        try:
            beat()
        except Exception as error:
            say(f"failed: {error}")
        stopping.wait(HEARTBEAT_SECONDS)
    if registration is not None:
        try:
            ask("DELETE", f"/api/machine/backend/{registration}")
        except Exception as error:
            say(f"failed: {error}")
    # The Manager does not send accepted runs again, so let them finish.
    deadline = time.monotonic() + STOP_SECONDS
    for _ in range(MAX_RUNS):
        runs.acquire(timeout=max(0, deadline - time.monotonic()))


if __name__ == "__main__":
    main()
