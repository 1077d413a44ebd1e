/**
 * Inboxes of executions that a worker runs without a connection to the store: the signals of one name, while the handler runs. Each read names
 * what the worker is done with, under its lease, so a message is neither lost nor given again by a retry.
 */
import { INBOX_PAGE_MAX } from '../../kernel/limits.ts'
import type { Instant } from '../../kernel/index.ts'
import { sleep } from '../../runtime/index.ts'
import { invalidInput, show } from '../checks/names.ts'
import { decodeValue } from '../checks/payload.ts'
import { checkSignalName } from '../checks/signal-names.ts'
import type { Session } from '../session.ts'
import { concerns } from '../streams/stream-source.ts'
import { partitionOf } from '../transport/ids.ts'
import { unwrap } from '../transport/unwrap.ts'
import { fenced } from './fenced.ts'

/** The interval of reads without a wake-up. */
const SWEEP_MS = 1_000

export interface InboxOptions {
  /** The worker is done with the messages up to this number; with none unless given. */
  readonly takenTo?: number
  /** How many messages to return at most; 20 unless given. */
  readonly limit?: number
  /** How long to wait for a message. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/** One signal that was sent to the execution. */
export interface LeaseMessage {
  /** Its number among all signals of the execution. */
  readonly sequence: number
  readonly key: string
  readonly by: string
  readonly at: Instant
  readonly value: unknown
}

export class LeaseInbox {
  readonly #session: () => Session

  constructor(session: () => Session) {
    this.#session = session
  }

  /** Takes what the handler is done with, and returns the messages that follow, as soon as there is one. */
  async read(id: string, lease: string, name: string, options: InboxOptions = {}): Promise<LeaseMessage[]> {
    const { takenTo = 0, limit = INBOX_PAGE_MAX, waitMs = 0, signal } = options
    const session = this.#session()
    const { runtime } = session
    const input = {
      ...fenced(session, id, lease),
      name: checkSignalName(name, 'inbox'),
      takenTo: checkCount(takenTo, 'takenTo', Number.MAX_SAFE_INTEGER),
      limit: checkCount(limit, 'limit', INBOX_PAGE_MAX),
    }
    const endsAt = runtime.monotonic() + waitMs
    const news = watchNews(session, input.executionId)
    try {
      for (;;) {
        const arrived = news.next()
        const { result, blobs } = await session.run(input.executionId, 'takeSignals', input)
        const messages = unwrap(result).signals.map(
          ({ signal: { sequence, key, source, at, payload }, payloadBlob }) => ({
            ...{ sequence, key, by: source.identity, at },
            value: decodeValue(payload, blobs[payloadBlob ?? -1]),
          }),
        )
        const leftMs = endsAt - runtime.monotonic()
        if (messages.length > 0 || limit === 0 || leftMs <= 0 || signal?.aborted === true) return messages
        await sleep(
          runtime,
          Math.min(leftMs, SWEEP_MS),
          signal === undefined ? arrived : AbortSignal.any([arrived, signal]),
        )
      }
    } finally {
      news.close()
    }
  }
}

/** Returns signals that abort once the execution may have got a message. */
function watchNews({ batcher }: Session, id: ReturnType<typeof fenced>['executionId']) {
  const partition = partitionOf(id)
  let arrived = new AbortController()
  const stop = batcher.store.onWake(
    (wake) => {
      if (wake.partition === partition && concerns(wake, id)) arrived.abort()
    },
    { eventsOf: partition },
  )
  const next = (): AbortSignal => {
    arrived = new AbortController()
    return arrived.signal
  }
  return { next, close: stop }
}

function checkCount(value: number, field: string, maximum: number): number {
  if (Number.isSafeInteger(value) && value >= 0 && value <= maximum) return value
  throw invalidInput(field, `${field} is ${show(value)}, but must be a whole number up to ${maximum}.`)
}
