"""A worker in Python, with nothing but the standard library. It runs executions of tasks over the HTTP API.

    FLOWFABRIC_URL=http://127.0.0.1:9090 FLOWFABRIC_TOKEN=fft_... python3 worker.py

A handler gets a `Job`, and returns the result or raises. `PermanentError` is not retried.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor

LEASE_SECONDS = 30
WAIT_SECONDS = int(os.environ.get("FLOWFABRIC_WAIT_SECONDS", "20"))
MESSAGE_BYTES = 2_048
STACK_BYTES = 8_192


class PermanentError(Exception):
    """Fails the execution without another attempt."""


class LeaseLost(Exception):
    """Another worker may run the execution: stop, and report nothing."""


class Cancelled(Exception):
    """The execution is to be cancelled: stop, and give it back."""


class Refused(Exception):
    """A problem that the server has answered with."""

    def __init__(self, problem):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')} {problem.get('advice')}")
        self.code = problem.get("code")
        self.status = problem.get("status", 500)
        self.is_retryable = problem.get("retryable", False)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the token would be sent to wherever they lead."""

    def redirect_request(self, *_):
        return None


class Api:
    """Calls routes. A call that could not be answered is sent again: all calls of a worker are idempotent by their lease."""

    def __init__(self, url, token=None):
        self.url = url.rstrip("/")
        self.token = token
        self._open = urllib.request.build_opener(NoRedirects).open

    def call(self, method, path, body=None, attempts=5, timeout=WAIT_SECONDS + 30):
        headers = {"content-type": "application/json"} if body is not None else {}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(1, attempts + 1):
            request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
            try:
                with self._open(request, timeout=timeout) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                refusal = Refused(problem_of(error))
                if not refusal.is_retryable or attempt == attempts:
                    raise refusal from None
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                if attempt == attempts:
                    raise
            time.sleep(min(8, 0.25 * 2**attempt))


def problem_of(error):
    try:
        return json.load(error)
    except ValueError:
        return {"status": error.code, "detail": str(error.reason), "retryable": error.code >= 500}


class Job:
    """One execution that this worker holds."""

    def __init__(self, api, claimed):
        self.api = api
        self.id = claimed["id"]
        self.lease = claimed["lease"]
        self.task = claimed["task"]
        self.attempt = claimed["attempt"]
        self.input = claimed.get("input")
        self.inputs = claimed.get("inputs", {})
        self.idempotency_key = claimed["idempotencyKey"]
        self.is_lost = False
        self.is_cancelled = False
        self._appends = 0
        self._steps = self._recorded() if claimed["stepCount"] > 0 else {}

    def step(self, name, run):
        """Runs a function once. Later attempts get the recorded result."""
        if name in self._steps:
            return self._steps[name]
        self.check()
        recorded = self._report("steps", {"name": name, "value": run()})
        self._steps[name] = recorded.get("value")
        return self._steps[name]

    def frames(self, name, values):
        """Streams values to readers of the execution."""
        self._appends += 1
        self._report("frames", {"append": self._appends, "frames": [{"name": name, "value": value} for value in values]})

    def check(self):
        """Raises if the handler should stop. Long handlers call it from time to time."""
        if self.is_lost:
            raise LeaseLost
        if self.is_cancelled:
            raise Cancelled

    def complete(self, result):
        self._report("complete", {"result": result})

    def fail(self, error):
        category = "permanent" if isinstance(error, PermanentError) else "error"
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        message = str(error) or type(error).__name__
        self._report("fail", {"message": cut(message, MESSAGE_BYTES), "category": category, "stack": cut(stack, STACK_BYTES)})

    def release(self, reason):
        self._report("release", {"reason": reason})

    def _report(self, what, body):
        try:
            return self.api.call("POST", f"/v1/executions/{self.id}/{what}", {"lease": self.lease, **body})
        except Refused as refusal:
            if refusal.code in ("stale_lease", "lease_expired", "lease_revoked", "execution_not_active"):
                self.is_lost = True
                raise LeaseLost from None
            raise

    def _recorded(self):
        steps, cursor = {}, None
        while True:
            query = {"values": "true", **({"cursor": cursor} if cursor else {})}
            page = self.api.call("GET", f"/v1/executions/{self.id}/steps?{urllib.parse.urlencode(query)}")
            steps.update({step["name"]: step.get("value") for step in page["items"] if step["state"] == "completed"})
            cursor = page.get("cursor")
            if cursor is None:
                return steps


def cut(text, limit):
    return text.encode()[:limit].decode(errors="ignore")


class Worker:
    """Claims executions, runs their handlers in threads, and renews their leases meanwhile."""

    def __init__(self, api, handlers, concurrency=8, lanes=("default",)):
        self.api = api
        self.handlers = handlers
        self.concurrency = concurrency
        self.lanes = list(lanes)
        self.instance = f"python-{uuid.uuid4()}"
        self.stopping = threading.Event()
        self._jobs = {}
        self._lock = threading.Lock()
        self._free = threading.Semaphore(concurrency)

    def run(self):
        """Works until `stopping` is set, and until all handlers have ended then."""
        renewal = threading.Thread(target=self._renew, daemon=True)
        renewal.start()
        with ThreadPoolExecutor(self.concurrency) as pool:
            while not self.stopping.is_set():
                for claimed in self._claim():
                    pool.submit(self._run, claimed)

    def _claim(self):
        self._free.acquire()
        count = 1
        while count < min(50, self.concurrency) and self._free.acquire(blocking=False):
            count += 1
        items = []
        try:
            if not self.stopping.is_set():
                items = self.api.call("POST", "/v1/claims", self._wanted(count), attempts=1)["items"]
        except (Refused, OSError) as error:
            print(f"could not claim, trying again: {error}", file=sys.stderr)
            self.stopping.wait(1)
        for _ in range(count - len(items)):
            self._free.release()
        return items

    def _wanted(self, count):
        return {
            "tasks": [{"name": name} for name in self.handlers],
            "lanes": self.lanes,
            "count": count,
            "wait": f"{WAIT_SECONDS}s",
            "leaseTtl": f"{LEASE_SECONDS}s",
            "instance": self.instance,
        }

    def _run(self, claimed):
        try:
            job = Job(self.api, claimed)
            with self._lock:
                self._jobs[job.lease + job.id] = job
            try:
                self._handle(job)
            finally:
                with self._lock:
                    del self._jobs[job.lease + job.id]
        except LeaseLost:
            print(f"lost the lease of {claimed['id']}; another worker runs it", file=sys.stderr)
        except Exception as error:
            # The lease expires, and another attempt follows.
            print(f"could not report about {claimed['id']}: {error}", file=sys.stderr)
        finally:
            self._free.release()

    def _handle(self, job):
        try:
            result = self.handlers[job.task](job)
        except Cancelled:
            job.release("it is cancelled")
        except (LeaseLost, Refused, urllib.error.URLError):
            raise
        except Exception as error:
            job.fail(error)
        else:
            job.complete(result)

    def _renew(self):
        while not self.stopping.wait(LEASE_SECONDS / 3) or self._jobs:
            with self._lock:
                jobs = list(self._jobs.values())
            for start in range(0, len(jobs), 100):
                self._renew_some(jobs[start : start + 100])
            if self.stopping.is_set():
                time.sleep(1)

    def _renew_some(self, jobs):
        items = [{"id": job.id, "lease": job.lease} for job in jobs]
        try:
            answer = self.api.call("POST", "/v1/leases/renew", {"items": items, "leaseTtl": f"{LEASE_SECONDS}s"})
        except (Refused, OSError) as error:
            print(f"could not renew leases, trying again: {error}", file=sys.stderr)
            return
        for job, item in zip(jobs, answer["items"]):
            job.is_lost = not item["ok"] and not item["error"]["retryable"]
            job.is_cancelled = item.get("cancel") is not None


def greet(job):
    name = job.step("name", lambda: str(job.input["name"]).title())
    job.frames("token", ["Hello, ", name, "!"])
    return f"Hello, {name}!"


def count(job):
    if job.input["n"] < 0:
        raise PermanentError("n is negative")
    return {"n": job.input["n"] + 1}


if __name__ == "__main__":
    worker = Worker(
        Api(os.environ.get("FLOWFABRIC_URL", "http://127.0.0.1:9090"), os.environ.get("FLOWFABRIC_TOKEN")),
        {"greet": greet, "count": count},
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: worker.stopping.set())
    worker.run()
