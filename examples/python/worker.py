"""A worker in Python, with nothing but the standard library. It runs executions of tasks over the HTTP API.

    FLOWFABRIC_URL=http://127.0.0.1:9090 FLOWFABRIC_TOKEN=fft_... python3 worker.py

A handler gets a `Job`, and returns the result or raises. `PermanentError` is not retried. A condition gets the inputs of a node and the input of
its flow, and returns whether the node runs.
"""

import json
import os
import signal
import socket
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
LISTED_SECONDS = 45
WAIT_SECONDS = int(os.environ.get("FLOWFABRIC_WAIT_SECONDS", "20"))
MESSAGE_BYTES = 2_048
STACK_BYTES = 8_192
LINE_BYTES = 2_048
LINES_SENT = 50
UNWINDING_CODES = ("execution_failed", "execution_cancelled", "execution_expired", "execution_skipped")
PATHS = {"wait": "suspend", "sleep": "suspend", "join": "children/wait", "child": "children"}


class PermanentError(Exception):
    """Fails the execution without another attempt."""


class LeaseLost(Exception):
    """Another worker may run the execution: stop, and report nothing."""


class Suspended(Exception):
    """The execution waits without a worker. A claim returns it when its wait is over, and its handler runs again."""


class NoRoom(Exception):
    """A budget has no room. The execution is postponed, and its handler asks again."""

    def __init__(self, message, retry_after_ms):
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class Cancelled(Exception):
    """The execution is stopped: leave the handler, so that its compensations run."""


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
        self._lines = []
        self._log_appends = 0
        self._names = {}
        self.condition = claimed.get("condition")
        self.is_unwinding = claimed.get("unwinding") is not None
        self._undos = []
        self._undo_count = self._stored_count = claimed["compensationCount"]
        self._undone, self._passed = set(), set()
        self._steps = self._recorded() if claimed["stepCount"] > 0 else {}

    def step(self, name, run):
        """Runs a function once. Later attempts get the recorded result."""
        if name in self._steps:
            return self._steps[name]
        self.check()
        recorded = self._report("steps", {"name": name, "value": run()})
        self._steps[name] = recorded.get("value")
        return self._steps[name]

    def compensate(self, name, undo):
        """Registers how to undo a step: before the step, or right after it. Runs unless the execution completes, the latest first."""
        self._undos.append((name, undo))
        if len(self._undos) > self._stored_count:
            self._report("compensations", {"count": len(self._undos)})
            self._stored_count = len(self._undos)

    def frames(self, name, values):
        """Streams values to readers of the execution."""
        self._appends += 1
        self._report("frames", {"append": self._appends, "frames": [{"name": name, "value": value} for value in values]})

    def log(self, level, message, **fields):
        """Keeps a line with the execution: 'debug', 'info', 'warn' or 'error'. Lines are sent together, and never fail a handler."""
        self._lines.append((time.monotonic(), {"level": level, "message": cut(message, LINE_BYTES), "fields": fields}))
        if len(self._lines) >= LINES_SENT or time.monotonic() - self._lines[0][0] > 1:
            self.send_lines()

    def send_lines(self):
        while self._lines:
            waiting, self._lines = self._lines[:LINES_SENT], self._lines[LINES_SENT:]
            lines = [{**line, "ageMs": min(3_600_000, int((time.monotonic() - at) * 1000))} for at, line in waiting]
            body = {"lease": self.lease, "append": self._log_appends + 1, "lines": lines}
            try:
                self.api.call("POST", f"/v1/executions/{self.id}/logs", body)
                self._log_appends += 1
            except (Refused, OSError) as error:
                print(f"could not keep log lines of {self.id}: {error}", file=sys.stderr)

    def sleep(self, name, duration):
        """Sleeps for a time such as '10m', without a worker."""
        self._wait(name, {"sleep": duration})

    def wait_for(self, name, **wait):
        """Waits without a worker: `signal="paid"`, `approval={"need": 2}`, `waitpoint="review"`, with `timeout="1h"`."""
        return self._wait(name, wait)["answer"]

    def waitpoint(self, key, *tokens, **options):
        """Opens a waitpoint, and returns it with a token for each of `tokens`, such as `{"for": "ada"}`."""
        return self._report("waitpoints", {"key": key, "tokens": list(tokens), **options})

    def spawn(self, name, task, value=None, **options):
        """Starts a child, unless an earlier run of the handler has started it. Returns the name to wait for."""
        name = self._numbered("child", name)
        self._held("children", {"children": [{"name": name, "task": task, "input": value, **options}]})
        return name

    def join(self, name, children, **rule):
        """Waits without a worker until children have ended, and returns their ends. `policy`, `need` and `losers` are options."""
        body = {"name": self._numbered("join", name), "children": list(children), **rule}
        return self._held("children/wait", body)["children"]

    def results(self, name, children):
        """Waits for children, and returns their results."""
        ends = self.join(name, children)
        for end in ends:
            if end.get("failure") is not None:
                raise RuntimeError(f"{end['name']}: {end['failure']['message']}")
        return [end.get("result") for end in ends]

    def add(self, name, task, value=None, **options):
        """Adds a member to the flow of this execution, which waits for it, unless an earlier run of the handler has added it."""
        self._depending("members", {"name": name, "task": task, "input": value, **options})

    def depend_on(self, member, **options):
        """Makes this execution wait for an existing member of its flow, by its name or its id."""
        self._depending("members/depend", {"member": member, **options})

    def _depending(self, path, body):
        if self._report(path, body)["kind"] not in ("added", "already_member", "already_added"):
            raise Suspended

    def members(self):
        """Waits without a worker for the members that it depends on, and returns the results of all its upstreams by name."""
        answer = self._report("members/wait", {})
        if answer["kind"] != "ready":
            raise Suspended
        return answer["inputs"]

    def spend(self, key, **amounts):
        """Records what was spent, such as `tokens=1200`. Repeated with its key, it counts once."""
        return self._spending("spend", {"key": key, "spending": amounts})

    def reserve(self, key, ttl="1m", **amounts):
        """Reserves amounts before they are spent. Settle or release them, or they lapse."""
        return self._spending("reservations", {"key": key, "ttl": ttl, "spending": amounts})

    def settle(self, key, **amounts):
        """Replaces a reservation by what was really spent."""
        return self._spending("reservations/settle", {"key": key, "spending": amounts})

    def release_reservation(self, key):
        self._report("reservations/release", {"key": key})

    def limited(self, limit, retry_after, **key):
        """Holds a limit back for all workers, such as for '20s', and gives the execution back until then."""
        self._report("limited", {"limit": limit, "retryAfter": retry_after, **key})
        raise Suspended

    def check(self):
        """Raises if the handler should stop. Long handlers call it from time to time."""
        if self.is_lost:
            raise LeaseLost
        if self.is_cancelled or self.is_unwinding:
            raise Cancelled

    def complete(self, result):
        self._report("complete", {"result": result})

    def fail(self, error):
        category = "permanent" if isinstance(error, PermanentError) else "error"
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        message = str(error) or type(error).__name__
        self._fail({"message": cut(message, MESSAGE_BYTES), "category": category, "stack": cut(stack, STACK_BYTES)})

    def stop(self):
        """Ends an execution that was stopped, after its compensations."""
        if len(self._undos) < self._undo_count:
            self._fail({"message": "the handler has registered too few compensations", "category": "compensation_incomplete"})
        elif self._undos or self.is_unwinding:
            self._undo()
        else:
            self.release("it is cancelled")

    def skip(self):
        """Skips a member of a flow whose condition is not met."""
        self._report("skip", {})

    def _fail(self, failure):
        undo = "ready" if len(self._undos) >= self._undo_count else "incomplete"
        if self._report("fail", {**failure, "undo": undo})["kind"] in ("unwinding", "already_unwinding"):
            self._undo()

    def _undo(self):
        failures = []
        for name, undo in reversed(self._undos):
            if name + "#undo" in self._undone:
                continue
            failed = {}
            try:
                undo()
            except Exception as error:
                failed = {"failure": cut(f"{name}: {error}", MESSAGE_BYTES)}
                failures.append(failed["failure"])
            self._report("compensations/record", {"name": name, **failed})
        self._report("compensations/end", {"failure": cut("; ".join(failures), MESSAGE_BYTES)} if failures else {})

    def postpone(self, delay):
        self._report("postpone", {"delay": delay})

    def release(self, reason):
        self._report("release", {"reason": reason})

    def _wait(self, name, wait):
        return self._held("suspend", {"name": self._numbered("wait", name), "wait": wait})

    def _spending(self, what, body):
        answer = self._report(what, body)
        if answer["kind"] == "rejected":
            raise PermanentError(answer["message"])
        if answer["kind"] == "no_room":
            raise NoRoom(answer["message"], answer["retryAfterMs"])
        if answer["kind"] not in ("spent", "already_spent", "reserved"):
            raise Suspended
        return answer

    def _held(self, what, body):
        """Makes a call that may end the lease. A run that undoes steps passes only what an earlier run has passed."""
        if self.is_unwinding and not all((what, name) in self._passed for name in names_in(body)):
            raise Cancelled
        answer = self._report(what, body)
        if answer["kind"] not in ("answered", "started", "decided"):
            raise Suspended
        return answer

    def _numbered(self, kind, name):
        """Names that a handler uses again get numbers, in the order of its calls."""
        count = self._names[kind, name] = self._names.get((kind, name), 0) + 1
        return name if count == 1 else f"{name} {count}"

    def _report(self, what, body):
        try:
            return self.api.call("POST", f"/v1/executions/{self.id}/{what}", {"lease": self.lease, **body})
        except Refused as refusal:
            if refusal.code in ("stale_lease", "lease_expired", "lease_revoked", "execution_not_active"):
                self.is_lost = True
                raise LeaseLost from None
            if refusal.code in UNWINDING_CODES:
                raise Cancelled from None
            raise

    def _recorded(self):
        steps, cursor = {}, None
        while True:
            query = {"values": "true", **({"cursor": cursor} if cursor else {})}
            page = self.api.call("GET", f"/v1/executions/{self.id}/steps?{urllib.parse.urlencode(query)}")
            steps.update({step["name"]: step.get("value") for step in page["items"] if is_result(step)})
            self._undone.update(step["name"] for step in page["items"] if step["state"] in ("completed", "failed"))
            self._passed.update((PATHS[step["kind"]], step["name"]) for step in page["items"] if is_passed(step))
            cursor = page.get("cursor")
            if cursor is None:
                return steps


def is_result(step):
    return step["kind"] == "call" and step["state"] == "completed"


def is_passed(step):
    """Whether a child was started, or a wait has got its answer."""
    return step["kind"] == "child" or (step["kind"] in PATHS and step["state"] == "closed" and step.get("how") != "ended")


def names_in(body):
    return [child["name"] for child in body["children"]] if "name" not in body else [body["name"]]


def cut(text, limit):
    return text.encode()[:limit].decode(errors="ignore")


class Worker:
    """Claims executions, runs their handlers in threads, and renews their leases meanwhile."""

    def __init__(self, api, handlers, conditions=None, concurrency=8, lanes=("default",)):
        self.api = api
        self.handlers = handlers
        self.conditions = conditions or {}
        self.concurrency = concurrency
        self.lanes = list(lanes)
        self.instance = f"python-{uuid.uuid4()}"
        self.stopping = threading.Event()
        self._path = f"/v1/workers/{self.instance}"
        self._ended = threading.Event()
        self._jobs = {}
        self._lock = threading.Lock()
        self._free = threading.Semaphore(concurrency)

    def run(self):
        """Works until `stopping` is set, and until all handlers have ended then."""
        self._register()
        renewal = threading.Thread(target=self._renew, daemon=True)
        renewal.start()
        with ThreadPoolExecutor(self.concurrency) as pool:
            while not self.stopping.is_set():
                for claimed in self._claim():
                    pool.submit(self._run, claimed)
        self._ended.set()
        renewal.join()
        self._unregister()

    def _register(self):
        """Registers in the list of workers, and is its heartbeat. A worker that is not listed works all the same."""
        about = {
            "worker": "python",
            "tasks": [{"name": name} for name in self.handlers],
            "lanes": self.lanes,
            "slots": self.concurrency,
            "running": len(self._jobs),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "ttl": f"{LISTED_SECONDS}s",
            "leaseTtl": f"{LEASE_SECONDS}s",
            "draining": self.stopping.is_set(),
        }
        try:
            if self.api.call("PUT", self._path, about, attempts=1)["drain"]:
                self.stopping.set()
        except (Refused, OSError) as error:
            print(f"could not register, trying again: {error}", file=sys.stderr)

    def _unregister(self):
        try:
            self.api.call("DELETE", self._path, attempts=2)
        except (Refused, OSError) as error:
            print(f"could not unregister; the worker is listed as lost soon: {error}", file=sys.stderr)

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
            "takes": ["undo", "conditions"] if self.conditions else ["undo"],
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
                job.send_lines()
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
        if job.condition is not None:
            condition = self.conditions.get((job.condition["flow"], job.condition["node"]))
            if condition is None:
                return job.release("this worker does not have the condition of the node")
            if not condition(job.inputs, job.condition.get("input")):
                return job.skip()
        try:
            result = self.handlers[job.task](job)
            if job.is_unwinding:
                raise Cancelled
        except Cancelled:
            job.stop()
        except Suspended:
            pass
        except NoRoom as shortage:
            job.postpone(shortage.retry_after_ms)
        except (LeaseLost, Refused, urllib.error.URLError):
            raise
        except Exception as error:
            job.fail(error)
        else:
            job.complete(result)

    def _renew(self):
        while not self._ended.wait(LEASE_SECONDS / 3):
            with self._lock:
                jobs = list(self._jobs.values())
            for start in range(0, len(jobs), 100):
                self._renew_some(jobs[start : start + 100])
            self._register()

    def _renew_some(self, jobs):
        items = [{"id": job.id, "lease": job.lease} for job in jobs]
        body = {"items": items, "leaseTtl": f"{LEASE_SECONDS}s", "instance": self.instance}
        try:
            answer = self.api.call("POST", "/v1/leases/renew", body)
        except (Refused, OSError) as error:
            print(f"could not renew leases, trying again: {error}", file=sys.stderr)
            return
        for job, item in zip(jobs, answer["items"]):
            job.is_lost = not item["ok"] and not item["error"]["retryable"]
            job.is_cancelled = item.get("cancel") is not None


def greet(job):
    name = job.step("name", lambda: str(job.input["name"]).title())
    job.log("info", "greeting", name=name)
    job.frames("token", ["Hello, ", name, "!"])
    return f"Hello, {name}!"


def count(job):
    if job.input["n"] < 0:
        raise PermanentError("n is negative")
    return {"n": job.input["n"] + 1}


def answer(job):
    job.reserve("answer", tokens=100)
    job.settle("answer", tokens=40)
    return job.spend("extra", tokens=2)["kind"]


def order(job):
    parts = [job.spawn(f"part:{n}", "count", {"n": n}) for n in range(job.input["parts"])]
    counted = job.results("parts", parts)
    paid = job.wait_for("payment", signal="paid", timeout="1h")
    if not paid["ok"]:
        raise PermanentError(f"the payment is missing: {paid['reason']}")
    job.sleep("cool down", "1ms")
    return {"parts": sum(part["n"] for part in counted), "paid": paid["value"]}


def gather(job):
    for name in job.input.get("others", []):
        job.depend_on(name)
    for n in range(job.input["parts"]):
        job.add(f"part:{n}", "count", {"n": n})
    return sum(part["n"] for part in job.members().values())


def trip(job):
    room = job.step("room", lambda: f"room for {job.input['guests']}")
    job.compensate("room", lambda: job.log("info", f"cancelling the {room}"))
    confirmed = job.wait_for("confirmation", signal="confirmed", timeout="1h")
    if not confirmed.get("value"):
        raise PermanentError("the guests have declined")
    return room


if __name__ == "__main__":
    worker = Worker(
        Api(os.environ.get("FLOWFABRIC_URL", "http://127.0.0.1:9090"), os.environ.get("FLOWFABRIC_TOKEN")),
        {"greet": greet, "count": count, "order": order, "answer": answer, "gather": gather, "trip": trip},
        {("choice", "maybe"): lambda inputs, _: inputs["first"]["n"] > 5},
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: worker.stopping.set())
    worker.run()
