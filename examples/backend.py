"""A backend in Python 3.11 without packages. docs/guides/backends/register.md explains the steps.

It registers and sends heartbeats. When a trigger calls, it verifies the signature, asks a partner through the ESB for the stock of
each tenant, and notifies the people of the tenant.

    MANAGER_URL=http://127.0.0.1:8080 MACHINE_TOKEN_FILE=token APPLICATION_ID=... \\
    CALLBACK_URL=http://127.0.0.1:9100/callbacks PORT=9100 python3 examples/backend.py
"""

import base64
import hashlib
import hmac
import json
import os
import signal
import sys
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

registration = None
# The previous secret stays valid for callbacks that were sent before the last registration.
secrets = []
lock = threading.Lock()


def say(line):
    print(line, flush=True)


def ask(method, path, body=None, headers=None):
    """Calls the Manager and returns the parsed response, or None for 404."""
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
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or b"{}")
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        reason = error.read(500).decode("utf-8", "replace")
        raise RuntimeError(f"{method} {path} returned {error.code}: {reason}") from None


def beat():
    """Sends a heartbeat, or registers where no registration exists."""
    global registration
    with lock:
        if registration is not None and ask("PUT", f"/api/machine/backend/{registration}/heartbeat") is not None:
            return
        body = {"application_id": APPLICATION_ID, "callback_url": CALLBACK_URL, "version": "1.0.0"}
        answer = ask("POST", "/api/machine/register-backend", body)
        if answer is None:
            raise RuntimeError("the application does not exist")
        registration = answer["registered_id"]
        secrets[:] = [answer["signing_secret"], *secrets[:1]]


def is_signed_with(secret, headers, body):
    """Verifies the signature and the time of a callback (Standard Webhooks)."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isascii() or not sent_at.isdigit() or abs(time.time() - int(sent_at)) > 300:
        return False
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"))
    except ValueError:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, one.encode()) for one in signatures)


def work(run, run_key):
    """Does the work of a run, once per tenant."""
    answer = ask("GET", f"/api/machine/application/{APPLICATION_ID}/tenants") or {"tenants": []}
    for tenant in answer["tenants"]:
        stock = ask("POST", f"/esb/{APPLICATION_ID}/stock", {"tenant": tenant["name"]})
        if stock is None:
            raise RuntimeError("the endpoint /stock does not exist")
        notification = {
            "application_id": APPLICATION_ID,
            "tenant_id": tenant["id"],
            "title": f"Tulips left: {stock['left']}",
            "data": {"left": stock["left"]},
        }
        # A run can arrive twice. With its id in the key, its notification exists once.
        ask("POST", "/api/machine/comms/emit", notification, {"Idempotency-Key": f"{run} {tenant['id']}"})
        say(f"{run_key} for {tenant['name']}")


def work_and_report(run, run_key):
    try:
        work(run, run_key)
    except Exception as error:
        say(f"failed: {error}")


class Callbacks(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A client that sends nothing does not keep a thread.
    timeout = 30

    def do_POST(self):
        global registration
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()) or int(length) >= MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not any(is_signed_with(secret, self.headers, body) for secret in secrets):
            token = self.headers.get("authorization", "").removeprefix("Bearer ")
            if not is_signed_with(token, self.headers, body):
                return self.answer(401)
            # Another instance registered as the same machine user. The next heartbeat registers again, and the Manager retries.
            registration = None
            return self.answer(503)
        run, run_key = self.headers["webhook-id"], json.loads(body)["run_key"]
        # The Manager waits for 30 s, so the response is sent before the work.
        threading.Thread(target=work_and_report, args=(run, run_key), daemon=True).start()
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def stop(*_):
    try:
        if registration is not None:
            ask("DELETE", f"/api/machine/backend/{registration}")
    finally:
        os._exit(0)


def main():
    server = ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "9100"))), Callbacks)
    signal.signal(signal.SIGTERM, stop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        try:
            beat()
        except Exception as error:
            say(f"failed: {error}")
        time.sleep(HEARTBEAT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
