/**
 * A backend whose commits fail now and then although their conditions hold, and which reserves nothing. A suite that passes on
 * it shows that every operation may run again at any time, and that reservations are never needed for a right answer.
 */
import type { Backend, Commit, CommitReply, LoadReply, LoadRequest, OfOperation } from './backend.ts'

export class UnsteadyBackend implements Backend {
  readonly checksClear: boolean | undefined
  readonly #backend: Backend
  readonly #failEvery: number
  #groupCount = 0

  /** One group out of `failEvery` fails. */
  constructor(backend: Backend, failEvery: number) {
    this.checksClear = backend.checksClear
    this.#backend = backend
    this.#failEvery = failEvery
  }

  load(request: LoadRequest): Promise<LoadReply> {
    return this.#backend.load({ ...request, reserver: undefined })
  }

  /** Does not send the groups that fail. The others are committed, and the lock is released, as without them. */
  async commit(commit: Commit): Promise<CommitReply> {
    let sentCount = 0
    /** For each group, its number among those that are sent. */
    const numbers = Array.from({ length: commit.groupCount }, () =>
      ++this.#groupCount % this.#failEvery === 0 ? undefined : sentCount++,
    )
    const groupOf = commit.groupOf.map((group) => (group === undefined ? undefined : numbers[group]))
    const isSent = ({ operation }: OfOperation) => groupOf[operation] !== undefined
    const reply = await this.#backend.commit({
      ...commit,
      groupCount: sentCount,
      groupOf,
      conditions: commit.conditions.filter(isSent),
      clear: commit.clear.filter(isSent),
      records: commit.records.filter(isSent),
      entries: commit.entries.filter(isSent),
      blobs: commit.blobs.filter(isSent),
      events: commit.events.filter(isSent),
      sends: commit.sends.filter(isSent),
    })
    if (reply.kind === 'refused') return reply
    const failed = numbers.flatMap((number, group) =>
      number === undefined || reply.failed.includes(number) ? [group] : [],
    )
    let next = 0
    const sent = commit.sends.map((send) => (isSent(send) ? reply.sent[next++] : undefined))
    return { ...reply, failed, sent }
  }
}
