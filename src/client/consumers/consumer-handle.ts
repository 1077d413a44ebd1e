/** One consumer of events: describe it, move it, delete it. */
import { consumerId } from '../../kernel/index.ts'
import { boolean, shape, unchecked } from '../../options/shape.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { invalidInput } from '../checks/names.ts'
import { logStarts } from '../events/log-start.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { describeConsumer } from './consumer-listing.ts'
import type { ConsumerDescription } from './consumer-listing.ts'
import { checkConsumerName } from './consumer-options.ts'

/** Exactly one of them. */
export interface SeekOptions {
  /** After an event, by the cursor of a subscription. */
  readonly cursor?: string
  /** Before the oldest event that is kept. */
  readonly fromStart?: boolean
  /** After the newest event. */
  readonly toEnd?: boolean
}

const seekOptions = shape<SeekOptions>()('{ fromStart: true }', {
  cursor: unchecked<string>(),
  fromStart: boolean,
  toEnd: boolean,
})

export class ConsumerHandle {
  readonly name: string
  readonly #session: () => Session

  /** `session` throws once the client is closed. */
  constructor(session: () => Session, name: string) {
    this.name = checkConsumerName(name)
    this.#session = session
  }

  async describe(): Promise<ConsumerDescription> {
    const { result } = await this.#session().runIn(STORE_PARTITION, 'describeConsumer', { consumerId: this.#id })
    return await describeConsumer(this.#session().batcher.store, unwrap(result).consumer)
  }

  /** Moves it to another place of the log. Its processes continue there within seconds, and stop what they handle. */
  async seek(options: SeekOptions): Promise<void> {
    const { cursor, fromStart = false, toEnd = false } = seekOptions(options)
    if ([cursor !== undefined, fromStart, toEnd].filter(Boolean).length !== 1) {
      throw invalidInput('options', 'A consumer is moved to a cursor, fromStart or toEnd: give exactly one of them.')
    }
    const starts = await logStarts(this.#session().batcher.store, { cursor, fromStart })
    const positions = starts.map(({ position: { sequence, mark } }, partition) => {
      return { partition, position: sequence, mark }
    })
    const input = { consumerId: this.#id, positions }
    unwrap((await this.#session().runIn(STORE_PARTITION, 'seekConsumer', input)).result)
  }

  /** Deletes it with its positions. Processes that consume for it stop. */
  async delete(): Promise<void> {
    unwrap((await this.#session().runIn(STORE_PARTITION, 'deleteConsumer', { consumerId: this.#id })).result)
  }

  get #id(): string {
    return consumerId(this.#session().namespace, this.name)
  }
}
