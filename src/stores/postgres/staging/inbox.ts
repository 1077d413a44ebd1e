/**
 * Submits that were staged in somebody else's transaction. They become visible with its commit, vanish with its rollback,
 * and are turned into executions by the next transaction of their partition. Staging takes no lock that anybody waits for.
 */
import type { Call } from '../../store.ts'
import { bigintArray, integerArray, textArray } from '../wire/arrays.ts'
import { bytesOf } from '../wire/round-trip.ts'
import type { Statement, StatementReply } from '../wire/round-trip.ts'

/** Staged submits that one transaction takes from a partition: few enough to leave room for the calls that it is for. */
export const INBOX_TAKE_MAX = 50

/** A submit that waits to be turned into an execution. */
export interface StagedCall {
  readonly number: number
  readonly inboxId: number
  /** Undefined if what was staged cannot be read. */
  readonly call: Call<'createExecution'> | undefined
}

type Text = Omit<Statement, 'values'>

export class Inbox {
  readonly #load: Text
  readonly #delete: Text
  readonly #fail: Text
  readonly #insertText: string

  /** `schema` is a quoted name, `channel` that on which listeners hear of what was staged. */
  constructor(schema: string, channel: string) {
    this.#load = {
      name: 'ff_load_inbox',
      text: `select k.partition, i.id, i.call, i.payload
        from unnest($1::integer[]) as k (partition)
        cross join lateral (
          select i.id, i.call, i.payload from ${schema}.inbox i
          where i.partition = k.partition and i.failure is null order by i.id limit $2
        ) i
        order by i.id`,
    }
    this.#delete = {
      name: 'ff_delete_inbox',
      text: `delete from ${schema}.inbox i using unnest($1::bigint[]) as k (id) where i.id = k.id`,
    }
    this.#fail = {
      name: 'ff_fail_inbox',
      text: `update ${schema}.inbox i set failure = k.failure
        from unnest($1::bigint[], $2::text[]) as k (id, failure) where i.id = k.id and i.failure is null`,
    }
    // Told within the caller's transaction, a listener hears of it when, and only if, that commits.
    this.#insertText = `with staged as (
        insert into ${schema}.inbox (partition, execution_id, call, payload) values ($1, $2, $3, $4)
      )
      select pg_notify('${channel}', $5)`
  }

  load(numbers: readonly number[], limit: number): Statement {
    return { ...this.#load, values: [integerArray(numbers), limit] }
  }

  /** What was loaded, oldest first. */
  read({ rows }: StatementReply): StagedCall[] {
    return (rows as [number, number, string, Buffer | null][]).map(([number, inboxId, text, payload]) => ({
      number,
      inboxId,
      call: readCall(text, payload),
    }))
  }

  /** Takes staged submits away in the transaction in which they have become executions. */
  remove(inboxIds: readonly number[]): Statement[] {
    return inboxIds.length === 0 ? [] : [{ ...this.#delete, values: [bigintArray(inboxIds)] }]
  }

  /** Sets staged submits aside for a person to look at. */
  setAside(failures: readonly { readonly inboxId: number; readonly reason: string }[]): Statement[] {
    if (failures.length === 0) return []
    const ids = bigintArray(failures.map(({ inboxId }) => inboxId))
    return [{ ...this.#fail, values: [ids, textArray(failures.map(({ reason }) => reason))] }]
  }

  /** The statement that stages a submit, for whatever runs statements of the caller's transaction. */
  staging(
    number: number,
    call: Call<'createExecution'>,
    notice: string,
  ): { readonly text: string; readonly values: readonly unknown[] } {
    const { input, blobs } = call
    const payload = blobs[0] === undefined ? null : Buffer.from(blobs[0])
    return { text: this.#insertText, values: [number, input.executionId, JSON.stringify(input), payload, notice] }
  }
}

function readCall(text: string, payload: Buffer | null): Call<'createExecution'> | undefined {
  try {
    const input = JSON.parse(text) as Call<'createExecution'>['input']
    if (typeof input !== 'object' || typeof input.executionId !== 'string') return undefined
    return { operation: 'createExecution', input, blobs: payload === null ? [] : [bytesOf(payload)] }
  } catch {
    return undefined
  }
}
