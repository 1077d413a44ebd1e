/** Every error code that a caller can receive. HTTP status, retry advice, CLI text and the error reference use it. */

export interface ErrorEntry {
  readonly status: number
  /** Whether the same call can succeed later without any other change. */
  readonly retry: 'never' | 'later'
  readonly text: string
  /** What the reader can do. */
  readonly advice: string
}

export const errorCatalogue = {
  invalid_input: {
    status: 400,
    retry: 'never',
    text: 'The input is not valid.',
    advice: 'Correct the field that the message names.',
  },
  invalid_payload: {
    status: 400,
    retry: 'never',
    text: "The input does not fit the task's schema.",
    advice: 'Correct the fields that the issues name.',
  },
  invalid_output: {
    status: 422,
    retry: 'never',
    text: "The handler's result is not valid.",
    advice: 'Correct the handler or the schema.',
  },
  payload_too_large: {
    status: 413,
    retry: 'never',
    text: 'The data exceeds the size limit.',
    advice: 'Store large data elsewhere and pass a reference.',
  },
  invalid_cursor: {
    status: 400,
    retry: 'never',
    text: 'The cursor was not issued by this store.',
    advice: 'Start again without a cursor.',
  },
  execution_not_found: {
    status: 404,
    retry: 'never',
    text: 'No execution has this id.',
    advice: 'Check the id and the store; ended executions are removed after their retention.',
  },
  execution_exists: {
    status: 409,
    retry: 'never',
    text: 'An execution with this id exists already.',
    advice: "Use ifExists: 'join' to follow it or 'replace' to begin again; if it is of another task, use another id.",
  },
  execution_in_progress: {
    status: 409,
    retry: 'never',
    text: 'The execution has started and cannot be replaced.',
    advice: 'Cancel it first, or wait until it has ended.',
  },
  execution_not_active: {
    status: 409,
    retry: 'never',
    text: 'The execution is not active.',
    advice: 'Look at its state: it has ended, is waiting, or was released.',
  },
  execution_ended: {
    status: 409,
    retry: 'never',
    text: 'The execution has ended.',
    advice: 'Replay it if it should run again.',
  },
  execution_not_ended: {
    status: 409,
    retry: 'never',
    text: 'The execution has not ended.',
    advice: 'Wait until it has ended, or cancel it.',
  },
  replays_exhausted: {
    status: 409,
    retry: 'never',
    text: 'The execution has been replayed as often as allowed.',
    advice: 'Submit a new execution.',
  },
  stale_lease: {
    status: 409,
    retry: 'never',
    text: 'Another claim has taken this execution.',
    advice: 'Stop the work at once; the other worker continues it.',
  },
  lease_expired: {
    status: 409,
    retry: 'never',
    text: 'The lease ran out before it was renewed.',
    advice: 'Stop the work at once; it is offered to another worker.',
  },
  lease_revoked: {
    status: 409,
    retry: 'never',
    text: 'An operator revoked the lease.',
    advice: 'Stop the work at once; it is offered to another worker.',
  },
  no_active_lease: {
    status: 409,
    retry: 'never',
    text: 'The execution has no lease.',
    advice: 'Nothing needs to be revoked.',
  },
  execution_failed: {
    status: 409,
    retry: 'never',
    text: 'The execution failed.',
    advice: 'Look at its attempts for the error.',
  },
  execution_cancelled: {
    status: 409,
    retry: 'never',
    text: 'The execution was cancelled.',
    advice: 'Replay it if it should run after all.',
  },
  execution_expired: {
    status: 409,
    retry: 'never',
    text: 'The execution ran out of time.',
    advice: 'Look at its attempts; raise its timeout, then replay it.',
  },
  execution_skipped: {
    status: 409,
    retry: 'never',
    text: 'The execution was skipped.',
    advice: 'Look at its dependencies.',
  },
  execution_parked: {
    status: 409,
    retry: 'never',
    text: 'The execution is parked until its dependencies have ended.',
    advice: 'End this run of its handler: it runs again from the top, and the members that it added still exist.',
  },
  execution_in_flow: {
    status: 409,
    retry: 'never',
    text: 'The execution belongs to a flow already.',
    advice: 'An execution is a member of one flow for life; use another id.',
  },
  execution_not_in_flow: {
    status: 409,
    retry: 'never',
    text: 'The execution is not a member of the flow.',
    advice: 'Add it to the flow first.',
  },
  flow_not_found: {
    status: 404,
    retry: 'never',
    text: 'No flow has this id.',
    advice: 'Check the id and the store; ended flows are removed after their retention.',
  },
  flow_exists: {
    status: 409,
    retry: 'never',
    text: 'A flow with this id and other content exists already.',
    advice: 'Use another id, or submit exactly the graph that was submitted first.',
  },
  flow_ended: {
    status: 409,
    retry: 'never',
    text: 'The flow has ended or was cancelled.',
    advice: 'Submit a new flow; a member of a flow that completed or failed can be replayed.',
  },
  flow_sealed: {
    status: 409,
    retry: 'never',
    text: 'The flow is sealed and accepts no more members or edges.',
    advice: 'Add to a flow before it is sealed, or from the handler of one of its running members.',
  },
  flow_busy: {
    status: 503,
    retry: 'later',
    text: 'The flow is being replayed.',
    advice: 'Call again in a moment.',
  },
  flow_failed: {
    status: 409,
    retry: 'never',
    text: 'The flow failed.',
    advice: 'Look at its members; replay the one that failed together with what was skipped after it.',
  },
  flow_cancelled: {
    status: 409,
    retry: 'never',
    text: 'The flow was cancelled.',
    advice: 'Submit a new flow.',
  },
  flow_not_settled: {
    status: 504,
    retry: 'later',
    text: 'The members of the cancelled flow did not all end in time.',
    advice: 'The cancel continues in the background; look at the members that the error names.',
  },
  self_referencing_edge: {
    status: 409,
    retry: 'never',
    text: 'An execution cannot depend on itself.',
    advice: 'Name two different members.',
  },
  cycle_detected: {
    status: 409,
    retry: 'never',
    text: 'The edge would close a cycle.',
    advice: 'Look at the path that the error names, and leave one of its edges out.',
  },
  dependency_already_exists: {
    status: 409,
    retry: 'never',
    text: 'An edge between these members exists and passes on something else.',
    advice: 'Two members have at most one edge; look at the existing one.',
  },
  edge_group_already_fired: {
    status: 409,
    retry: 'never',
    text: 'The dependencies of the execution are decided.',
    advice: 'Add dependencies before their group is decided: submit the flow as a whole, or hold it.',
  },
  edge_group_policy_fixed: {
    status: 409,
    retry: 'never',
    text: 'The execution has inbound edges, so its policy is fixed.',
    advice: 'Set the policy before the first edge.',
  },
  unreachable_quorum: {
    status: 409,
    retry: 'never',
    text: 'A group needs more upstreams than it has.',
    advice: 'Add edges to the members that the error names before you seal the flow.',
  },
  stale_graph_revision: {
    status: 409,
    retry: 'never',
    text: 'The graph has changed since it was read.',
    advice: 'Read the flow again and repeat the decision.',
  },
  graph_limit_exceeded: {
    status: 400,
    retry: 'never',
    text: 'The graph exceeds a limit.',
    advice: 'Make the flow smaller, or split it: see the limit that the error names.',
  },
  not_runnable: {
    status: 409,
    retry: 'never',
    text: 'The execution has started, so it accepts no more dependencies.',
    advice: 'Only the handler that runs it may add dependencies to it.',
  },
  upstream_not_replayed: {
    status: 409,
    retry: 'never',
    text: 'A dependency of the execution has failed and was not replayed.',
    advice: 'Replay the upstream that the error names together with everything that was skipped after it.',
  },
  unknown_task: {
    status: 400,
    retry: 'never',
    text: 'There is no such task.',
    advice: 'Pass a value that task(…) made, and check the name.',
  },
  worker_stopping: {
    status: 503,
    retry: 'later',
    text: 'The worker is stopping.',
    advice: 'Stop the work; it is released, and another worker continues it.',
  },
  fabric_closed: { status: 409, retry: 'never', text: 'The fabric is closed.', advice: 'Create a new one.' },
  aborted: {
    status: 499,
    retry: 'later',
    text: 'The call was aborted by its caller.',
    advice: 'Call again if the answer is still wanted.',
  },
  invalid_configuration: {
    status: 500,
    retry: 'never',
    text: 'The configuration is not valid.',
    advice: 'Correct the setting that the message names.',
  },
  configuration_mismatch: {
    status: 500,
    retry: 'never',
    text: 'The store was set up with other settings.',
    advice: 'Use the settings that the store names, or another store.',
  },
  newer_schema: {
    status: 500,
    retry: 'never',
    text: 'The store was written by a newer version.',
    advice: 'Upgrade this program.',
  },
  older_schema: {
    status: 500,
    retry: 'never',
    text: 'The store was written by an older version.',
    advice: 'Run `flowfabric migrate` on it, with the version of this program.',
  },
  store_not_found: {
    status: 503,
    retry: 'never',
    text: 'There is no store at this location.',
    advice: 'Check the location, or create the store with a program that submits work or with `flowfabric dev`.',
  },
  store_unavailable: {
    status: 503,
    retry: 'later',
    text: 'The store did not answer in time.',
    advice: 'Check that the store can be reached, then call again; a submit with an id starts its work only once.',
  },
  store_in_use: {
    status: 409,
    retry: 'never',
    text: 'Another program may still be using the store.',
    advice: 'Stop every program that uses the store, then run the command again.',
  },
  store_busy: {
    status: 503,
    retry: 'later',
    text: 'Another process blocked the store for too long.',
    advice: 'Look for a long transaction on the store, then call again; nothing was changed.',
  },
  store_full: {
    status: 507,
    retry: 'later',
    text: 'The store has no room for new work.',
    advice: 'Give it more memory or disk, or let ended executions be removed sooner; nothing was written.',
  },
  corruption: {
    status: 500,
    retry: 'never',
    text: 'Stored data contradicts itself.',
    advice: 'Keep a copy of the store and report it with the record named.',
  },
  execution_not_suspended: {
    status: 409,
    retry: 'never',
    text: 'The execution does not wait.',
    advice: 'Nothing needs to be done if it has resumed; look at its state.',
  },
  waits_elsewhere: {
    status: 409,
    retry: 'never',
    text: 'The execution waits in another step.',
    advice: 'Name the step that it waits in, or no step to end any wait.',
  },
  step_limit_exceeded: {
    status: 422,
    retry: 'never',
    text: 'The execution has recorded as many steps as one may have.',
    advice: 'Combine several steps, or move part of the work to executions of their own.',
  },
  step_bytes_exceeded: {
    status: 422,
    retry: 'never',
    text: 'The values of all steps of the execution together exceed the limit.',
    advice: 'Store large data elsewhere and return a reference from the step.',
  },
  step_not_found: {
    status: 404,
    retry: 'never',
    text: 'The execution has recorded no step of this name.',
    advice: 'List its steps to see their names; a repeated name has a number after it.',
  },
  retention_over: {
    status: 409,
    retry: 'never',
    text: 'The retention of the execution is over and it is being removed.',
    advice: 'Submit the work again.',
  },
  waitpoint_not_found: {
    status: 404,
    retry: 'never',
    text: 'The execution has no waitpoint of this name.',
    advice: 'List its waitpoints. To send a signal ahead of its wait, send it by its name and not to a waitpoint.',
  },
  waitpoint_closed: {
    status: 409,
    retry: 'never',
    text: 'The waitpoint accepts no more signals.',
    advice: 'Nothing can be done if the wait has been answered; the steps of the execution show how.',
  },
  waitpoint_awaited: {
    status: 409,
    retry: 'never',
    text: 'The execution waits at this waitpoint only.',
    advice:
      'Resume or cancel the execution, or close the waitpoint by force and know that only time or an operator will end its wait.',
  },
  waitpoint_limit_exceeded: {
    status: 422,
    retry: 'never',
    text: 'The execution has as many open waitpoints as one may have.',
    advice: 'Wait for some of them before opening more.',
  },
  signal_limit_exceeded: {
    status: 429,
    retry: 'never',
    text: 'The execution has received as many signals as it accepts.',
    advice: 'Let its handler wait for the buffered signals, or send fewer and larger ones.',
  },
  missing_token: {
    status: 401,
    retry: 'never',
    text: 'A token is needed here.',
    advice: 'Send the token of the link that you were given.',
  },
  invalid_token: {
    status: 401,
    retry: 'never',
    text: 'The token is not valid.',
    advice: 'Check that it was copied whole, or ask for a new link.',
  },
  token_expired: {
    status: 401,
    retry: 'never',
    text: 'The token is not valid any more.',
    advice: 'Ask for a new link.',
  },
  signing_keys_missing: {
    status: 500,
    retry: 'never',
    text: 'No keys to sign tokens are configured.',
    advice:
      "Run flowfabric keys rotate and point FLOWFABRIC_KEYS_FILE at the file; or pass keys: 'none' if nothing hands out links.",
  },
  invalid_keys: {
    status: 500,
    retry: 'never',
    text: 'The file of signing keys cannot be used.',
    advice: 'Correct what the message names, or restore the file.',
  },
  signing_keys_stale: {
    status: 503,
    retry: 'later',
    text: 'The signing keys could not be read for too long, so tokens are refused.',
    advice: 'Make the key file readable for this process; it is checked at every use. Nothing needs a restart.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue
