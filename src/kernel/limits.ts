/** Every bound of the kernel, with its unit in its name. Equal on all stores. */

/** Records one operation may put or remove; further work waits for the next call. */
export const OPERATION_WORK_LIMIT = 100
/** Records that an operation may read for the price of one write: many reads leave less room to write. */
export const READS_PER_UNIT = 40
/** Records one call (a batch of operations) may put or remove before the rest is answered `not_run`. */
export const BATCH_WORK_LIMIT = 200
/** Bytes of blobs one call may send back before the rest is answered `not_run`. */
export const BATCH_REPLY_BYTES = 1_048_576
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
/** The name of a step. A longer one is stored as its beginning and a hash. */
export const STEP_NAME_BYTES = 512
/** The name of a node. A longer one is stored as its beginning and a hash. */
export const NODE_NAME_BYTES = 512
/** The name of an input, a key in `ctx.inputs`. A longer one is stored as its beginning and a hash. */
export const INPUT_NAME_BYTES = 4_096
/** The highest version of a task. */
export const VERSION_MAX = 1_000_000
export const LANE_BYTES = 64
export const KEY_BYTES = 512
/** Needs of one execution, and capabilities of one worker. */
export const NEED_COUNT_MAX = 256
/** Bytes of all needs of one execution, or of all capabilities of one worker, with a separator between two. */
export const NEEDS_BYTES = 4_096
/** Bytes of needs up to which a class contains them; longer ones are represented by a digest. */
export const CLASS_NEEDS_BYTES = 512
/** Combinations of needs and versions in which one task may wait in one lane and namespace of a partition. */
export const NEEDS_CLASS_MAX = 1_024

/** The distance between two turns of a key with weight 1. */
export const FAIRNESS_UNIT = 1_000
/** The smallest and the largest weight of a key. */
export const FAIRNESS_WEIGHT_MIN = 0.01
export const FAIRNESS_WEIGHT_MAX = 100
/** After so much time without a submit it is checked whether the share of a key still decides anything. */
export const SHARE_CHECK_MS = 3_600_000
/** Tasks of one lane that can be held. */
export const LANE_TASK_COUNT_MAX = 64
/** The smallest and the largest weight of a lane. */
export const LANE_WEIGHT_MIN = 0.01
export const LANE_WEIGHT_MAX = 1_000
/** Lanes that one call lists. */
export const LANE_PAGE_MAX = 100
/** How far a lane turns before its record is written: so many executions of a single key with weight 1, or of each of many. */
export const ROTATION_STEP = 32 * FAIRNESS_UNIT

export const ATTEMPTS_MAX = 1_000
export const RETRY_DELAY_MAX_MS = 86_400_000
export const RECLAIM_CAP = 20
/** Refusals of its input after which an execution fails, unless the worker sets another number. */
export const REFUSAL_LIMIT_DEFAULT = 12
/** Builds of workers that refuse its input after which an execution fails, unless the worker sets another number. */
export const REFUSING_BUILD_LIMIT_DEFAULT = 3
/** The highest number of builds that a worker may set. */
export const REFUSING_BUILD_LIMIT_MAX = 16
/** The delay after the first refusal of an input. It doubles with each further refusal. */
export const REFUSAL_DELAY_FIRST_MS = 1_000
export const REFUSAL_DELAY_MAX_MS = 300_000
export const REPLAY_CAP = 10
/** Submits that a shaping key remembers after they replaced an input, so that a repetition of one does not do it again. */
export const SHAPING_MERGED_MAX = 8
/** How long after the end of its last window, or of its last execution, a shaping key remembers submits. */
export const SHAPING_MEMORY_MS = 300_000
/** The longest window of a debounce or a throttle. */
export const SHAPING_WINDOW_MAX_MS = 2_592_000_000
/** The longest window of a debounce without a maximum, in multiples of its wait. */
export const DEBOUNCE_MAX_FACTOR = 10
/** Submits that an execution remembers after their runs, so that a repetition of one starts nothing. */
export const PAST_REQUEST_MAX = 8
export const LEASE_TTL_MIN_MS = 1_000
export const LEASE_TTL_DEFAULT_MS = 30_000
export const CANCEL_GRACE_DEFAULT_MS = 30_000
/** Running time that a handler has to undo its steps. */
export const COMPENSATION_TIMEOUT_DEFAULT_MS = 300_000
/** How long an execution that undoes its steps may wait for a worker, a retry or a signal. */
export const COMPENSATION_WAIT_MS = 86_400_000
/** Compensations that one execution may register. Their steps have room of their own. */
export const COMPENSATION_MAX = 1_000
/** Bytes of the failures of all compensations of one execution, besides those of its steps. */
export const COMPENSATION_BYTES = 16_777_216
/** Runs that may end before they have registered all compensations; the next one runs those that it has registered. */
export const INCOMPLETE_RUN_MAX = 12
/** Further leases that an execution which undoes its steps may lose, however many it has lost before. */
export const COMPENSATION_RECLAIM_COUNT = 3
export const RETENTION_DEFAULT_MS = 86_400_000
/** Durations beyond this are refused: instants must stay printable and far below 2^53. */
export const DURATION_MAX_MS = 3_155_760_000_000
/** The last instant that a calendar has, in milliseconds since the epoch: in the year 275760. */
export const INSTANT_MAX = 8_640_000_000_000_000

/** Executions one claim may take. */
export const CLAIM_COUNT_MAX = 50
/** Queues (lane and class) one claim may ask for. */
export const CLAIM_QUEUE_COUNT_MAX = 64
/** Records that claiming one execution puts at most: the execution and its flow. */
export const CLAIM_ITEM_WORK = 2
/** Records that blocking one execution behind a gate puts at most: the execution, its flow and the gate. */
export const CLAIM_BLOCK_WORK = 3
/** Blobs one claim may send: payloads and inputs. */
export const CLAIM_BLOB_MAX = 200
/** Bytes of payload after which a claim takes no further execution. */
export const CLAIM_PAYLOAD_BYTES = 1_048_576
/** Active executions a repeated claim looks through to find the ones it already holds. */
export const CLAIM_RECOVERY_SCAN_COUNT = 1_000
/** Active executions that this search reads at once. */
export const CLAIM_RECOVERY_PAGE_COUNT = 200
/** Due records that a claim handles before it looks for work. */
export const CLAIM_DUE_COUNT = 20

/** Due records that one due pass examines: no more than it may put, because the commit checks each of them. */
export const DUE_SCAN_COUNT = 100
/** The delay after which a due pass looks again for records that were hidden from it. */
export const DUE_HIDDEN_MS = 5
/** How long the share of an engine lasts without a renewal. */
export const DUTY_TTL_MS = 60_000
/** The interval without a heartbeat after which a worker counts as lost, unless the worker sets another. */
export const WORKER_TTL_DEFAULT_MS = 15_000
export const WORKER_TTL_MIN_MS = 1_000
/** Versions of tasks that a registration names. A worker may serve more. */
export const WORKER_TASK_MAX = 1_000
/** How long a lost or dead worker is listed. */
export const WORKER_FORGET_MS = 600_000
/** Lost and dead workers that one page of the worker sweep has. */
export const WORKER_SWEEP_COUNT = 50
/** Active executions that one call examines to revoke the leases of a worker. */
export const REVOKE_PAGE_COUNT = 100
/** The reason why a worker was declared dead or asked to drain. */
export const WORKER_REASON_BYTES = 256
/** Records that one listing examines, matching or not. */
export const LIST_SCAN_COUNT = 200
export const LIST_PAGE_MAX = 200
/** Index entries that one reconciling step examines. */
export const RECONCILE_SCAN_COUNT = 200
/** Counting stops at this number and reports it. */
export const COUNT_MAX = 100_000
/** Queues that one count or lane listing examines. */
export const QUEUE_SCAN_COUNT = 200
/** Executions ahead of one that `explain` counts before it reports "at least". */
export const AHEAD_COUNT_MAX = 1_000
/** Steps among which `explain` looks for children that an execution waits for. */
export const EXPLAIN_STEP_COUNT = 1_000
/** Attempts in the history of an execution; older ones are removed, so that its removal fits one operation. */
export const ATTEMPT_HISTORY_MAX = 50
/** Executions whose waits are read at once by an operation that stops many. */
export const WAIT_READ_COUNT = 40
/** Records that handling one due execution puts or removes at most. */
export const DUE_ITEM_WORK = 10
/** Room that handling one due member of a flow, or one flow, should find. It does as much as there is room for. */
export const FLOW_ITEM_WORK = 28
/** Ended executions that a task may keep by number. */
export const KEEP_MAX = 100_000
/** Ended executions beyond the number that a task keeps, as far as they are counted. */
export const KEEP_EXCESS_COUNT = 1_000
/** Queues that one search for tasks that keep a number reads. */
export const KEEP_QUEUE_COUNT = 40
/** Executions one purge removes at most. */
export const PURGE_COUNT_MAX = 50

/** Members one flow may have. */
export const FLOW_MEMBER_MAX = 10_000
/** Edges one flow may have. */
export const FLOW_EDGE_MAX = 50_000
/** Edges that may lead to one member. */
export const IN_DEGREE_MAX = 1_000
/** Nodes up to which a flow is submitted in one operation, if its records fit the work of one. */
export const FLOW_ATOMIC_NODE_MAX = 50
/** Nodes and edges of a graph that waits as a follow-up: it is part of the record of its flow. */
export const FOLLOW_UP_NODE_MAX = 50
export const FOLLOW_UP_EDGE_MAX = 150
/** Records that are put besides the nodes and edges of a follow-up that begins. */
export const FOLLOW_UP_RESERVE = 6
/** How long a submission in several calls may pause before it is abandoned. */
export const SUBMISSION_IDLE_MS = 3_600_000
/** Members that the search for a cycle examines, and that one new edge may move to another rank. */
export const GRAPH_SEARCH_MAX = 80
/** Levels of downstream members to which one operation applies an end; the next operation continues. */
export const RESOLVE_LEVEL_MAX = 24
/** Edges of one member, or members of one flow, that an operation reads at once. */
export const RESOLVE_PAGE_COUNT = 40
/** Records that resolving one edge puts at most: the edge, its downstream, an attempt, and a wait. */
export const RESOLVE_EDGE_WORK = 5
/** Records reserved for the rest of an operation that resolves edges: its flow, and the next claim. */
export const RESOLVE_RESERVE = 16
/** Groups that a member may feed and still be cancelled as a loser; a member that feeds more keeps running. */
export const SHARED_GROUP_MAX = 100
/** Inputs up to which a member stores them itself; with more, they are looked up when it is claimed. */
export const GIVEN_INPUT_MAX = 8
/** Inputs that a claim sends with an execution; further ones are read separately. */
export const CLAIM_INPUT_COUNT = 32
/** Inputs that one read of further ones returns. */
export const INPUT_PAGE_MAX = 100
/** Bytes of inputs that a claim sends with one execution. */
export const CLAIM_INPUT_BYTES = 65_536
/** Members that one listing of a flow examines. */
export const MEMBER_PAGE_MAX = 200
/** Edges that one listing returns. */
export const EDGE_PAGE_MAX = 1_000
/** Groups that a refused seal names, and upstreams that an explanation names. */
export const NAMED_MEMBER_MAX = 10
/** Entries that one step of a flow's reconcilers examines. */
export const FLOW_RECONCILE_COUNT = 50

/** Steps that one execution may have recorded. */
export const STEP_MAX = 10_000
/** Bytes of the values and failures of all steps of one execution. */
export const STEP_TOTAL_BYTES = 16_777_216
/** Bytes of one step's value. */
export const STEP_VALUE_BYTES = 262_144
/** Steps that one page examines; the bytes of a reply may end it earlier. */
export const STEP_PAGE_MAX = 200
/** Bytes of values that one page of steps sends. */
export const STEP_PAGE_BYTES = 524_288
/** Records of an execution's journal that one operation removes at once. */
export const SWEEP_PAGE_COUNT = 40

/** Children that one execution may have started. */
export const CHILD_MAX = 10_000
/** Parents above one execution. A detached child has none. */
export const CHILD_DEPTH_MAX = 32
/** Children that one operation starts. */
export const CHILD_START_MAX = 40
/** Children that one operation adds to a join. */
export const CHILD_JOIN_MAX = 80
/** Records that the end of a child puts in its parent's journal: its step, the join, the parent and its flow. */
export const CHILD_END_WORK = 4
/** Records that the cancel of one child puts at most, without those that all cancels of one operation share. */
export const CHILD_CANCEL_WORK = 6
/** Steps that one operation examines for children to cancel. */
export const CHILD_CANCEL_PAGE_COUNT = 200

/** Waitpoints of one execution that may be open at a time, and to which one condition may refer. */
export const OPEN_WAITPOINT_MAX = 64
/** Expired waitpoints that one due pass closes at once. */
export const EXPIRED_WAITPOINT_COUNT = 8
export const WAITPOINT_EXPIRY_MAX_MS = 2_592_000_000
/** Nodes of one condition. */
export const CONDITION_NODE_MAX = 64
/** Groups within groups, the outermost included. */
export const CONDITION_DEPTH_MAX = 4
/** Signals that all leaves of one condition may ask for together. */
export const CONDITION_NEED_MAX = 100
/** Distinct senders that one leaf may ask for, and that it may name. */
export const CONDITION_SOURCE_MAX = 100
/** Signals that one execution may accept from programs. */
export const SIGNAL_MAX = 10_000
/** Signals that one execution may accept by links, besides those of programs. */
export const LINK_SIGNAL_MAX = 5_000
/** Signals of programs that are buffered at one mailbox or waitpoint for a later wait. */
export const BUFFERED_SIGNAL_MAX = 200
/** Signals by links that are buffered at one waitpoint before only the first one of each holder is accepted. */
export const LINK_BUFFERED_MAX = 200
/** Signals that one holder of links may send to one waitpoint. */
export const SENDER_SIGNAL_MAX = 20
/** Holders of links whose signals one waitpoint takes. */
export const SENDER_MAX = 200
/** Signals that one mailbox or waitpoint can have buffered. */
export const TARGET_BUFFERED_MAX = BUFFERED_SIGNAL_MAX + LINK_BUFFERED_MAX + SENDER_MAX
/** Signals that one page returns. */
export const SIGNAL_PAGE_MAX = 200
export const SIGNAL_PAYLOAD_BYTES = 65_536
/** Bytes of payloads that one page of signals sends. */
export const SIGNAL_PAGE_BYTES = 524_288
export const SIGNAL_KEY_BYTES = 256
export const IDENTITY_BYTES = 256
/** Reminders of one wait at most. */
export const REMINDER_MIN_MS = 1_000
/** Waitpoints that one listing returns. */
export const WAITPOINT_PAGE_MAX = 200

/** The weight that one window of a limit may admit, and that one execution may have. */
export const LIMIT_COUNT_MAX = 1_000_000_000
/** Limits that one execution may need permits of. */
export const EXECUTION_LIMIT_MAX = 8
/** Admissions of one window that are counted exactly; more are merged. */
export const WINDOW_ENTRY_MAX = 128
/** Requests of one call for permits, and keys of one call that returns or renews them. */
export const PERMIT_REQUEST_MAX = 32
/** Further permits that a process gets at once: one of so many that are free. */
export const SPARE_PERMIT_SHARE = 8
/** Requests of a process that a holding remembers, so that a repetition has no further effect. */
export const HOLDING_REQUEST_MAX = 8
/** Executions of one key that are known to give way to later ones. */
export const RUNNER_MAX = 64
/** Worker processes that may hold permits of one key at once. */
export const HOLDER_MAX = 1_000
/** Execution partitions that may wait for one key. */
export const WAITING_PARTITION_MAX = 1_024
/** The time after which a permit is offered again to blocked work, if no release is reported before. */
export const LIMIT_PROBE_MS = 5_000
/** The longest time that a gate waits if it knows when a permit becomes free. */
export const GATE_WAIT_MAX_MS = 60_000
/** The same for a budget that is used up, whose room comes by a change that opens the gate. */
export const BUDGET_GATE_WAIT_MAX_MS = 600_000
/** How long a process may take to deliver the wakes of a budget before the engine does so, and how long the engine waits between attempts. */
export const WAKE_DELIVERY_MS = 2_000
/** Executions that a gate releases in one step. */
export const GATE_RELEASE_MAX = 30
/** Keys of which a claim may have permits at hand. */
export const CLAIM_PERMIT_MAX = 64
/** Gates that one call opens. */
export const GATE_OPEN_MAX = 16
/** How long a handler may hold back a key. */
export const LIMIT_HOLD_MAX_MS = 86_400_000
/** How long the name of a deleted limit is kept. */
export const DELETED_LIMIT_MS = 2_592_000_000
/** Keys of a limit that one listing returns. */
export const LIMIT_PAGE_MAX = 200
/** Processes that hold permits of a key, of which its description names the first. */
export const NAMED_HOLDER_MAX = 50
/** Keys of a limit that one step examines for waiting work. */
export const LIMIT_WAKE_COUNT = 50
/** Executions blocked by limits that one step of the scanner examines. */
export const BLOCKED_RECONCILE_COUNT = 50
/** Keys of a limit that one step of the reconciler examines. */
export const LIMIT_RECONCILE_COUNT = 20
/** How long what has expired is left to the due pass before the reconciler of limits reports it. */
export const LIMIT_OVERDUE_MS = 30_000
/** Records that one due key or holding puts or removes at most. */
export const PERMIT_DUE_WORK = 3

/** Bytes of one frame. */
export const FRAME_BYTES = 65_536
/** Frames that one append adds, and bytes of them. */
export const FRAME_APPEND_COUNT = 512
export const FRAME_APPEND_BYTES = 262_144
/** A chunk of durable frames is extended until it has so many frames or bytes. */
export const FRAME_CHUNK_COUNT = 256
export const FRAME_CHUNK_BYTES = 8_192
/** Durable frames that one execution keeps, and bytes of them. Older ones are trimmed chunk by chunk. */
export const FRAME_MAX = 10_000
export const FRAME_TOTAL_BYTES = 16_777_216
/** Chunks that one execution keeps: every lease begins one. */
export const FRAME_CHUNK_MAX = 1_000
/** Chunks that one append removes at most. */
export const FRAME_TRIM_COUNT = 8
/** Live frames that a stream keeps, and bytes of them. */
export const LIVE_FRAME_MAX = 256
export const LIVE_FRAME_BYTES = 65_536
/** Chunks that one read examines, and bytes of frames that it sends. */
export const FRAME_PAGE_CHUNKS = 16
export const FRAME_PAGE_BYTES = 524_288
/** Chunks that a read loads before it knows the stream: that of the reader, and the next. */
export const FRAME_PLAN_CHUNKS = 2
/** Bytes of a frame's name. */
export const FRAME_NAME_BYTES = 64
/** Bytes of one log line of a handler: the JSON of its message, step and fields. */
export const LOG_LINE_BYTES = 4_096
/** Log lines that one execution keeps, bytes of them, and chunks. Older ones are trimmed chunk by chunk. */
export const LOG_LINE_MAX = 1_000
export const LOG_TOTAL_BYTES = 262_144
export const LOG_CHUNK_MAX = 100
/** Bytes of the document of a summary. */
export const SUMMARY_BYTES = 262_144
/** Signals that an inbox reads at once. */
export const INBOX_PAGE_MAX = 20
/** Boundaries of a schedule that are stored ahead. */
export const SCHEDULE_PLAN_MAX = 8
/** Boundaries left at which a schedule asks for more. */
export const SCHEDULE_PLAN_LOW = 4
/** When a schedule that asks for boundaries and gets none asks again. */
export const SCHEDULE_PLAN_RETRY_MS = 5_000
/** How late a boundary may fire before it counts as missed. */
export const SCHEDULE_MISSED_AFTER_MS = 60_000
/** Missed boundaries that a schedule makes up for, the latest ones. */
export const SCHEDULE_MISSED_MAX = 100
/** Boundaries that wait for the end of an earlier firing. */
export const SCHEDULE_QUEUE_MAX = 100
/** Latest firings that count as earlier ones when firings must not overlap. */
export const SCHEDULE_OPEN_MAX = 8
/** The shortest period of a schedule. */
export const SCHEDULE_PERIOD_MIN_MS = 1_000
/** The longest jitter of a schedule. */
export const SCHEDULE_JITTER_MAX_MS = 86_400_000
/** Executions that one call creates for a schedule, by hand or for past boundaries. */
export const SCHEDULE_FIRE_MAX = 16
/** Boundaries that one backfill covers. */
export const SCHEDULE_BACKFILL_MAX = 1_000
/** Schedules that one listing returns. */
export const SCHEDULE_PAGE_MAX = 100
/** Schedules that one call reads to plan their boundaries. */
export const SCHEDULE_READ_MAX = 100
/** Records that one due schedule puts besides the executions that it cancels: those that it creates, and marks those that it waits for. */
export const SCHEDULE_DUE_WORK = 16
/** Consumers that one listing returns: each has a position for every partition. */
export const CONSUMER_PAGE_MAX = 20
/** How long the audit trail keeps an entry. */
export const AUDIT_KEEP_MS = 7_776_000_000
/** Entries that the audit trail of a store keeps. */
export const AUDIT_ENTRY_MAX = 100_000
/** Entries beyond that number which one call removes. */
export const AUDIT_SWEEP_COUNT = 4
/** Characters of a text of an audit entry. */
export const AUDIT_TEXT_LENGTH = 1_024
/** Targets of an audit entry. */
export const AUDIT_TARGET_MAX = 8
/** Characters of the error that a consumer shows. */
export const CONSUMER_ERROR_LENGTH = 500
/** Levels of one tree of budgets. */
export const BUDGET_LEVEL_MAX = 4
/** Trees of budgets that one execution may name. */
export const BUDGET_TREE_MAX = 4
/** Dimensions of one budget, and of one report. */
export const BUDGET_DIMENSION_MAX = 64
/** The highest amount of one report, and of one limit: money is counted in millionths. */
export const BUDGET_AMOUNT_MAX = 1_000_000_000_000
/** The highest sum that is exact. A report that would pass it is refused. */
export const BUDGET_SUM_MAX = Number.MAX_SAFE_INTEGER
/** Raises of an account that are known, so that a repetition of one has no further effect. */
export const BUDGET_RAISE_MAX = 32
/** How long an approval may raise a budget, in ms. Shorter than the line that marks the raise is kept. */
export const APPROVAL_VALID_MS = 2_592_000_000
/** Tasks whose sums an account keeps; further ones share one sum. */
export const BUDGET_TASK_MAX = 64
/** Executions of an account that are woken when what they ask for fits. Further ones ask by themselves. */
export const BUDGET_PARKED_MAX = 32
/** Keys with delayed executions that one step looks at after a change of their budget. */
export const PARKED_WAKE_COUNT = 20
/** Executions that the unconfirmed wakes of a key name, in each partition. */
export const OWED_PARKED_MAX = 64
/** Periods of an account whose sums are kept after they have ended. */
export const BUDGET_PERIOD_MAX = 400
/** Boundaries of a budget that are stored ahead. */
export const BUDGET_PLAN_MAX = 8
/** Boundaries left at which a budget asks for more. */
export const BUDGET_PLAN_LOW = 4
/** When a budget that asks for boundaries and gets none asks again. */
export const BUDGET_PLAN_RETRY_MS = 5_000
/** The shortest period of a budget. */
export const BUDGET_PERIOD_MIN_MS = 60_000
/** How long a line of the ledger is kept, and its key refuses a repetition. */
export const CHARGE_RETENTION_MS = 3_024_000_000
/** How long a reservation lasts without a renewal, at most. */
export const RESERVATION_TTL_MAX_MS = 86_400_000
/** Reservations of one account at once. */
export const RESERVATION_MAX = 10_000
/** Reservations that one call renews. */
export const RESERVATION_RENEW_MAX = 20
/** Budgets, accounts, charges or periods that one listing returns. */
export const BUDGET_PAGE_MAX = 100
/** Budgets of one tree that are searched for those below one that is deleted. */
export const BUDGET_TREE_SCAN_MAX = 1_000
/** Past periods of an account that one step removes with it. */
export const BUDGET_SWEEP_COUNT = 50
/** When an account is removed that has not been used, as long as a line of its ledger is kept at least. */
export const ACCOUNT_IDLE_MS = 3_024_000_000
/** How long the account of an execution is not used before the executions that spend it are looked for. */
export const OWN_ACCOUNT_IDLE_MS = 7_776_000_000
/** Executions that one step examines for accounts that they spend. */
export const SPENDER_SCAN_COUNT = 200
/** Accounts of executions that are looked for together. */
export const SPENDER_ACCOUNT_MAX = 200
/** Charges or reservations that one step of the reconciler of budgets adds up. */
export const BUDGET_RECONCILE_COUNT = 1_000
/** Secrets of a webhook: the one that signs, and earlier ones in their grace. */
export const WEBHOOK_SECRET_MAX = 3
