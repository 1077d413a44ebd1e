/** Every code that a caller can meet, once. HTTP status, retry advice, CLI text and the error reference come from here. */

export interface ErrorEntry {
  readonly status: number
  /** Whether the same call can succeed later without anybody changing anything else. */
  readonly retry: 'never' | 'later'
  readonly text: string
  /** What the person who reads it can do. */
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
    text: 'The bytes are over the limit.',
    advice: 'Store large data elsewhere and pass a reference.',
  },
  invalid_cursor: {
    status: 400,
    retry: 'never',
    text: 'The cursor is not one that this store gave out.',
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
    advice: 'Look at its state: it has ended, waits, or was handed back.',
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
    advice: 'Stop the work at once; the other holder goes on.',
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
    text: 'An operator took the lease away.',
    advice: 'Stop the work at once; it is offered to another worker.',
  },
  no_active_lease: {
    status: 409,
    retry: 'never',
    text: 'Nobody holds this execution.',
    advice: 'There is nothing to revoke.',
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
    advice: 'Look at what it depended on.',
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
    advice: 'Stop the work; it is handed back, and another worker goes on with it.',
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
    advice: 'Check the location, or let a program that submits work or `flowfabric dev` make the store.',
  },
  store_unavailable: {
    status: 503,
    retry: 'later',
    text: 'The store did not answer in time.',
    advice: 'Check that the store can be reached, then call again; a submit with an id starts its work only once.',
  },
  store_busy: {
    status: 503,
    retry: 'later',
    text: 'Another process kept the store busy for too long.',
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
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue
