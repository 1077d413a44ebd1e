/** Every error code that a caller can receive. HTTP status, retry advice, CLI text and the error reference use it. */

import { BUDGET_LEVEL_MAX, CHILD_DEPTH_MAX, CHILD_MAX } from './limits.ts'

export interface ErrorEntry {
  readonly status: number
  /** Whether the same call can succeed later without any other change. */
  readonly retry: 'never' | 'later'
  readonly text: string
  /** What the reader can do. */
  readonly advice: string
}

/** An error that every repetition of the call would meet. */
function never(status: number, text: string, advice: string): ErrorEntry {
  return { status, retry: 'never', text, advice }
}

/** An error after which the same call may succeed. */
function later(status: number, text: string, advice: string): ErrorEntry {
  return { status, retry: 'later', text, advice }
}

export const errorCatalogue = {
  invalid_input: never(400, 'The input is not valid.', 'Correct the field that the message names.'),
  invalid_payload: never(400, "The input does not fit the task's schema.", 'Correct the fields that the issues name.'),
  invalid_output: never(422, "The handler's result is not valid.", 'Correct the handler or the schema.'),
  payload_too_large: never(413, 'The data exceeds the size limit.', 'Store large data elsewhere and pass a reference.'),
  invalid_cursor: never(400, 'The cursor was not issued by this store.', 'Start again without a cursor.'),
  execution_not_found: never(
    404,
    'No execution has this id.',
    'Check the id and the store; ended executions are removed after their retention.',
  ),
  execution_exists: never(
    409,
    'An execution with this id exists already.',
    "Use ifExists: 'join' to follow it or 'replace' to begin again; if it is of another task, use another id.",
  ),
  input_differs: never(
    409,
    'The id belongs to work that was submitted with another input.',
    "Use another id for other work; or say with ifExists what to do, whatever the input: 'join' follows the existing work, 'after' runs it once more, 'replace' begins again.",
  ),
  lane_draining: never(
    409,
    'The lane, or the task in it, is being drained and accepts no new work.',
    'Submit to another lane, or resume this one: flowfabric lanes shows who drains it and why.',
  ),
  lane_disabled: never(
    409,
    'The lane, or the task in it, is disabled and accepts no new work.',
    'Submit to another lane, or resume this one: flowfabric lanes shows who has disabled it and why.',
  ),
  too_many_held_tasks: never(
    409,
    'Too many tasks of the lane are paused, drained or disabled.',
    'Hold the lane as a whole, or resume some of its tasks.',
  ),
  singleton_taken: never(
    409,
    'Another execution of this key has not ended.',
    "Wait until it has ended; or say with ifTaken what to do: 'join' follows it, 'replace' stops it.",
  ),
  execution_in_progress: never(
    409,
    'The execution has started and cannot be replaced.',
    'Cancel it first, or wait until it has ended.',
  ),
  follow_up_pending: never(
    409,
    'The execution will run once more, so it cannot become a member of a flow.',
    'Add it after its follow-up has begun, or use an execution of its own for the flow.',
  ),
  execution_not_active: never(
    409,
    'The execution is not active.',
    'Look at its state: it has ended, is waiting, or was released.',
  ),
  execution_ended: never(409, 'The execution has ended.', 'Replay it if it should run again.'),
  execution_not_ended: never(409, 'The execution has not ended.', 'Wait until it has ended, or cancel it.'),
  replays_exhausted: never(409, 'The execution has been replayed as often as allowed.', 'Submit a new execution.'),
  stale_lease: never(
    409,
    'Another claim has taken this execution.',
    'Stop the work at once; the other worker continues it.',
  ),
  lease_expired: never(
    409,
    'The lease ran out before it was renewed.',
    'Stop the work at once; it is offered to another worker.',
  ),
  lease_revoked: never(
    409,
    'An operator revoked the lease.',
    'Stop the work at once; it is offered to another worker.',
  ),
  no_active_lease: never(409, 'The execution has no lease.', 'Nothing needs to be revoked.'),
  execution_failed: never(409, 'The execution failed.', 'Look at its attempts for the error.'),
  execution_cancelled: never(409, 'The execution was cancelled.', 'Replay it if it should run after all.'),
  execution_expired: never(
    409,
    'The execution ran out of time.',
    'Look at its attempts; raise its timeout, then replay it.',
  ),
  execution_skipped: never(409, 'The execution was skipped.', 'Look at its dependencies.'),
  execution_parked: never(
    409,
    'The execution is parked until its dependencies have ended.',
    'End this run of its handler: it runs again from the top, and the members that it added still exist.',
  ),
  execution_in_flow: never(
    409,
    'The execution belongs to a flow already.',
    'An execution is a member of one flow for life; use another id.',
  ),
  execution_not_in_flow: never(409, 'The execution is not a member of the flow.', 'Add it to the flow first.'),
  flow_not_found: never(
    404,
    'No flow has this id.',
    'Check the id and the store; ended flows are removed after their retention.',
  ),
  flow_exists: never(
    409,
    'A flow with this id exists already.',
    "Use ifExists: 'join' to follow it or 'replace' to begin again; if it is another flow, use another id.",
  ),
  flow_in_progress: never(
    409,
    'The flow has not ended and cannot be replaced.',
    'Cancel it first, or wait until it has ended.',
  ),
  flow_ended: never(
    409,
    'The flow has ended or was cancelled.',
    'Submit a new flow; a member of a flow that completed or failed can be replayed.',
  ),
  flow_sealed: never(
    409,
    'The flow is sealed and accepts no more members or edges.',
    'Add to a flow before it is sealed, or from the handler of one of its running members.',
  ),
  flow_busy: later(503, 'The flow is being replayed, or is about to begin its follow-up.', 'Call again in a moment.'),
  flow_failed: never(
    409,
    'The flow failed.',
    'Look at its members; replay the one that failed together with what was skipped after it.',
  ),
  flow_cancelled: never(409, 'The flow was cancelled.', 'Submit a new flow.'),
  flow_not_settled: later(
    504,
    'The members of the cancelled flow did not all end in time.',
    'The cancel continues in the background; look at the members that the error names.',
  ),
  self_referencing_edge: never(409, 'An execution cannot depend on itself.', 'Name two different members.'),
  cycle_detected: never(
    409,
    'The edge would close a cycle.',
    'Look at the path that the error names, and leave one of its edges out.',
  ),
  dependency_already_exists: never(
    409,
    'An edge between these members exists and passes on something else.',
    'Two members have at most one edge; look at the existing one.',
  ),
  edge_group_already_fired: never(
    409,
    'The dependencies of the execution are decided.',
    'Add dependencies before their group is decided: submit the flow as a whole, or hold it.',
  ),
  edge_group_policy_fixed: never(
    409,
    'The execution has inbound edges, so its policy is fixed.',
    'Set the policy before the first edge.',
  ),
  unreachable_quorum: never(
    409,
    'A group needs more upstreams than it has.',
    'Add edges to the members that the error names before you seal the flow.',
  ),
  stale_graph_revision: never(
    409,
    'The graph has changed since it was read.',
    'Read the flow again and repeat the decision.',
  ),
  graph_limit_exceeded: never(
    400,
    'The graph exceeds a limit.',
    'Make the flow smaller, or split it: see the limit that the error names.',
  ),
  not_runnable: never(
    409,
    'The execution has started, or is to undo its steps, so it accepts no more dependencies.',
    'Only the handler that runs it may add dependencies to it.',
  ),
  upstream_not_replayed: never(
    409,
    'A dependency of the execution has failed and was not replayed.',
    'Replay the upstream that the error names together with everything that was skipped after it.',
  ),
  unknown_task: never(400, 'There is no such task.', 'Pass a value that task(…) made, and check the name.'),
  worker_stopping: later(
    503,
    'The worker is stopping.',
    'Stop the work; it is released, and another worker continues it.',
  ),
  fabric_closed: never(409, 'The fabric is closed.', 'Create a new one.'),
  aborted: later(499, 'The call was aborted by its caller.', 'Call again if the answer is still wanted.'),
  invalid_configuration: never(500, 'The configuration is not valid.', 'Correct the setting that the message names.'),
  configuration_mismatch: never(
    500,
    'The store was set up with other settings.',
    'Use the settings that the store names, or another store.',
  ),
  newer_schema: never(500, 'The store was written by a newer version.', 'Upgrade this program.'),
  worker_not_found: never(
    404,
    'No worker has this instance id.',
    'List the workers: a closed worker is removed at once, a lost or dead one after a while.',
  ),
  worker_not_live: never(
    409,
    'The worker is lost or dead.',
    'Nothing is left to drain: its executions are claimed by other workers.',
  ),
  instance_in_use: never(
    409,
    'Another process has registered this worker instance.',
    'Give each process an instance id of its own, or take the registration over.',
  ),
  level_too_low: never(
    409,
    'The level of the store is too low for this feature.',
    'Once every process runs this version, run "flowfabric migrate". See docs/upgrading.md.',
  ),
  older_schema: never(
    500,
    'The store was written by an older version.',
    'Run `flowfabric migrate` on it, with the version of this program.',
  ),
  store_not_found: never(
    503,
    'There is no store at this location.',
    'Check the location, or create the store with a program that submits work or with `flowfabric dev`.',
  ),
  store_unavailable: later(
    503,
    'The store did not answer in time.',
    'Check that the store can be reached, then call again; a submit with an id starts its work only once.',
  ),
  store_in_use: never(
    409,
    'Another program may still be using the store.',
    'Stop every program that uses the store, then run the command again.',
  ),
  store_busy: later(
    503,
    'Another process blocked the store for too long.',
    'Look for a long transaction on the store, then call again; nothing was changed.',
  ),
  store_full: later(
    507,
    'The store has no room for new work.',
    'Give it more memory or disk, or let ended executions be removed sooner; nothing was written.',
  ),
  corruption: never(
    500,
    'Stored data contradicts itself.',
    'Keep a copy of the store and report it with the record named.',
  ),
  value_sealed: never(
    422,
    'The value is sealed by a codec that this program does not have.',
    'Give the program the codec, or the command its key; the value itself is intact.',
  ),
  codec_key_missing: never(
    422,
    'The value was encrypted with a key that this program does not have.',
    'Add the key with the id in the message to the key file; keep old keys as long as values need them.',
  ),
  value_tampered: never(
    422,
    'The stored value is not what a program with the key has written there.',
    'Find out who can write to the store; restore the value from a backup, or cancel the work.',
  ),
  object_missing: never(
    410,
    'The object of an offloaded value does not exist any more.',
    'Restore the object named in the message into its bucket, then replay or retry the work.',
  ),
  execution_not_suspended: never(
    409,
    'The execution does not wait.',
    'Nothing needs to be done if it has resumed; look at its state.',
  ),
  waits_elsewhere: never(
    409,
    'The execution waits in another step.',
    'Name the step that it waits in, or no step to end any wait.',
  ),
  execution_is_child: never(
    409,
    'The execution is the child of another one, whose handler uses its result.',
    'Replay the parent, or start another execution.',
  ),
  children_stopping: later(
    503,
    'The children of the execution are still being cancelled.',
    'Try again in a moment: an engine cancels them.',
  ),
  too_many_needs: never(
    409,
    'The task has too many different combinations of needs in its lane.',
    'Name kinds of machines as needs, or use another lane.',
  ),
  child_limit_exceeded: never(
    409,
    `The execution has started ${CHILD_MAX} children, which is the limit.`,
    'Let children start children, or start detached executions from another one.',
  ),
  child_depth_exceeded: never(
    409,
    `The execution has ${CHILD_DEPTH_MAX} parents above it, which is the limit.`,
    'Start the child with detached: true, or use fewer levels.',
  ),
  step_limit_exceeded: never(
    422,
    'The execution has recorded as many steps as one may have.',
    'Combine several steps, or move part of the work to executions of their own.',
  ),
  step_bytes_exceeded: never(
    422,
    'The values of all steps of the execution together exceed the limit.',
    'Store large data elsewhere and return a reference from the step.',
  ),
  step_not_found: never(
    404,
    'The execution has recorded no step of this name.',
    'List its steps to see their names; a repeated name has a number after it.',
  ),
  retention_over: never(
    409,
    'The retention is over: the work was removed or is being removed.',
    "Submit the work again, with another id or with ifExists: 'replace'.",
  ),
  result_expired: never(
    410,
    'The work completed, but its result was removed after its retention.',
    "Raise the retention if results are needed for longer; to run the work again, submit it with ifExists: 'replace'.",
  ),
  schedule_not_found: never(
    404,
    'No schedule has this name.',
    'Check the name, the namespace and the store. `flowfabric schedules` lists them.',
  ),
  consumer_not_found: never(
    404,
    'No consumer has this name.',
    'Check the name, the namespace and the store. `flowfabric consumers` lists them.',
  ),
  webhook_not_found: never(
    404,
    'No webhook has this name.',
    'Check the name, the namespace and the store. `flowfabric webhooks` lists them.',
  ),
  unsafe_target: never(
    400,
    'The URL leads to an address that webhooks are not sent to.',
    'Use https and a public host. For tests, allow private targets where webhooks are defined and where they are delivered.',
  ),
  schedule_owned: never(
    409,
    'The schedule was declared by another owner.',
    'Use another name, or delete the schedule first if its owner does not declare it any more.',
  ),
  budget_not_found: never(
    404,
    'No budget has this name.',
    'Define the budget and those above it, or list the budgets to check the name.',
  ),
  budget_tree_too_deep: never(
    409,
    `A tree of budgets has ${BUDGET_LEVEL_MAX} levels at most, and no budget is above itself.`,
    'Give the budget another parent.',
  ),
  budget_has_children: never(409, 'Other budgets are below this one.', 'Delete those below it first.'),
  budget_exceeded: later(
    429,
    'The budget has no room for the amount.',
    'Wait until it is reset, or raise it: flowfabric budgets show names what is left.',
  ),
  amount_too_large: never(
    422,
    'The sum of the budget would not be exact any more.',
    'Count in a larger unit, or use another budget.',
  ),
  limit_not_found: never(404, 'No limit has this name.', 'Define the limit, or list the limits to check the name.'),
  limit_not_needed: never(
    409,
    'The execution needs no permit of this limit.',
    'Give back an execution only for a limit that its claim names.',
  ),
  waitpoint_not_found: never(
    404,
    'The execution has no waitpoint of this name.',
    'List its waitpoints. To send a signal ahead of its wait, send it by its name and not to a waitpoint.',
  ),
  waitpoint_closed: never(
    409,
    'The waitpoint accepts no more signals.',
    'Nothing can be done if the wait has been answered; the steps of the execution show how.',
  ),
  waitpoint_awaited: never(
    409,
    'The execution waits at this waitpoint only.',
    'Resume or cancel the execution, or close the waitpoint by force and know that only time or an operator will end its wait.',
  ),
  waitpoint_limit_exceeded: never(
    422,
    'The execution has as many open waitpoints as one may have.',
    'Wait for some of them before opening more.',
  ),
  signal_limit_exceeded: never(
    429,
    'The execution has received as many signals as it accepts.',
    'Send fewer and larger ones.',
  ),
  signal_buffer_full: later(
    429,
    'As many signals are buffered here as fit.',
    'Send it again later: a wait of the handler makes room. Send fewer and larger signals.',
  ),
  missing_token: never(401, 'A token is needed here.', 'Send the token of the link that you were given.'),
  invalid_token: never(401, 'The token is not valid.', 'Check that it was copied whole, or ask for a new link.'),
  token_expired: never(401, 'The token is not valid any more.', 'Ask for a new link.'),
  signing_keys_missing: never(
    500,
    'No keys to sign tokens are configured.',
    'Run flowfabric keys rotate and point FLOWFABRIC_KEYS_FILE at the file.',
  ),
  invalid_keys: never(
    500,
    'The file of signing keys cannot be used.',
    'Correct what the message names, or restore the file.',
  ),
  signing_keys_stale: later(
    503,
    'The signing keys could not be read for too long, so tokens are refused.',
    'Make the key file readable for this process; it is checked at every use. Nothing needs a restart.',
  ),
  unauthorized: never(
    401,
    'The request has no valid credentials.',
    'Send the header Authorization: Bearer <token> with a token that the server accepts.',
  ),
  forbidden: never(
    403,
    'The credentials do not permit this request.',
    'Use a token with the role and the namespace that the message names.',
  ),
  too_many_failures: later(
    429,
    'Too many requests with invalid credentials came from this address.',
    'Wait as long as the header Retry-After says, and send a valid token.',
  ),
  route_not_found: never(404, 'The server has no such route.', 'Check the path: /v1/openapi.json lists all routes.'),
  method_not_allowed: never(
    405,
    'The route does not support this method.',
    'Use a method that the header Allow lists.',
  ),
  request_timeout: never(408, 'The body of the request did not arrive in time.', 'Send the request again.'),
  unsupported_media_type: never(
    415,
    'The body has a content type or an encoding that the route does not read.',
    'Send JSON in UTF-8 with the header Content-Type: application/json.',
  ),
  server_busy: later(
    503,
    'The server has as many open requests of this kind as it accepts.',
    'Try again in a moment, or on another server.',
  ),
  server_stopping: later(
    503,
    'The server is stopping.',
    'Send the request again, to another server or once this one has restarted.',
  ),
  internal_error: later(
    500,
    'The server failed in a way that it does not know.',
    'Look for the request id in the log of the server, and report what it logged.',
  ),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue
