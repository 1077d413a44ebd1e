/** Every bound of the kernel, with its unit in its name. Equal on all stores. */

/** Records one operation may put or remove; what exceeds it waits for the next call. */
export const OPERATION_WORK_LIMIT = 100
/** Records one call (a batch of operations) may put or remove before the rest is answered `not_run`. */
export const CALL_WORK_LIMIT = 200
/** Bytes of blobs one call may send back before the rest is answered `not_run`. */
export const CALL_REPLY_BYTES = 1_048_576
/** Operations in one call. */
export const BATCH_OPERATION_LIMIT = 50
/** Bytes of blobs and arguments that one call collects before it is sent. */
export const BATCH_BYTES = 262_144

export const PAYLOAD_BYTES = 1_048_576
export const RESULT_BYTES = 1_048_576
export const STACK_BYTES = 8_192
export const FAILURE_MESSAGE_BYTES = 2_048
export const PROGRESS_MESSAGE_BYTES = 1_024
export const REASON_BYTES = 1_024

export const PRIORITY_MAX = 9_000
export const TAG_COUNT_MAX = 16
export const TAG_VALUE_BYTES = 256
export const INDEXED_TAG_COUNT_MAX = 4
export const NAME_BYTES = 128
export const LANE_BYTES = 64
export const KEY_BYTES = 512

export const ATTEMPTS_MAX = 1_000
export const RETRY_DELAY_MAX_MS = 86_400_000
export const RECLAIM_CAP = 20
export const REPLAY_CAP = 10
export const LEASE_TTL_MIN_MS = 1_000
export const LEASE_TTL_DEFAULT_MS = 30_000
export const CANCEL_GRACE_DEFAULT_MS = 30_000
export const RETENTION_DEFAULT_MS = 86_400_000
/** Durations beyond this are refused: instants must stay printable and far below 2^53. */
export const DURATION_MAX_MS = 3_155_760_000_000

/** Executions one claim may take. */
export const CLAIM_COUNT_MAX = 50
/** Queues (lane and class) one claim may ask for. */
export const CLAIM_QUEUE_COUNT_MAX = 64
/** Bytes of payload after which a claim takes no further execution. */
export const CLAIM_PAYLOAD_BYTES = 1_048_576
/** Active executions a repeated claim looks through to find the ones it already holds. */
export const CLAIM_RECOVERY_SCAN_COUNT = 1_000
/** Active executions that such a search reads at once. */
export const CLAIM_RECOVERY_PAGE_COUNT = 200
/** Due records a claim sees to before it looks for work. */
export const CLAIM_DUE_COUNT = 20

/** Due records one due pass looks at. */
export const DUE_SCAN_COUNT = 200
/** Records one listing looks at, matching or not. */
export const LIST_SCAN_COUNT = 200
export const LIST_PAGE_MAX = 200
/** Index entries one reconciling step looks at. */
export const RECONCILE_SCAN_COUNT = 200
/** A count stops here and says so. */
export const COUNT_MAX = 100_000
/** Queues one count or lane listing looks at. */
export const QUEUE_SCAN_COUNT = 200
/** Executions ahead of one that `explain` counts before it says "at least". */
export const AHEAD_COUNT_MAX = 1_000
/** Attempts an execution keeps a history of; older ones are dropped, so that removing it always fits one operation. */
export const ATTEMPT_HISTORY_MAX = 50
/** Records that seeing to one due execution puts or removes at most. */
export const DUE_ITEM_WORK = 3
/** Executions one purge removes at most. */
export const PURGE_COUNT_MAX = 50
