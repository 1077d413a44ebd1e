/**
 * Submits staged in a caller's transaction. They become visible with its commit, vanish with its rollback, and become
 * executions in the next transaction of their partition. Staging takes no lock that others wait for.
 */
import type { Call } from '../../store.ts'
import { bigintArray, integerArray, textArray } from '../wire/arrays.ts'
import { bytesOf } from '../wire/round-trip.ts'
import type { Statement, StatementReply } from '../wire/round-trip.ts'

/** Limit of staged submits that one transaction takes from a partition: it leaves room for the calls of the batch. */
export const INBOX_TAKE_MAX = 50

/** A submit that is not yet an execution. */
export interface StagedCall {
  readonly number: number
  readonly inboxId: number
  /** Undefined if the staged call is not readable. */
  readonly call: Call<'createExecution'> | undefined
}

type Text = Omit<Statement, 'values'>

export class Inbox {
  readonly #load: Text
  readonly #delete: Text
  readonly #fail: Text
  readonly #insertText: string

  /** `schema` is a quoted name; `channel` is notified of staged submits. */
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
    // The notification is part of the caller's transaction, so it is delivered only after its commit.
    this.#insertText = `with staged as (
        insert into ${schema}.inbox (partition, execution_id, call, payload) values ($1, $2, $3, $4)
      )
      select pg_notify('${channel}', $5)`
  }

  load(numbers: readonly number[], limit: number): Statement {
    return { ...this.#load, values: [integerArray(numbers), limit] }
  }

  /** Parses loaded submits, oldest first. */
  read({ rows }: StatementReply): StagedCall[] {
    return (rows as [number, number, string, Buffer | null][]).map(([number, inboxId, text, payload]) => ({
      number,
      inboxId,
      call: readCall(text, payload),
    }))
  }

  /** Removes staged submits in the transaction that turned them into executions. */
  remove(inboxIds: readonly number[]): Statement[] {
    return inboxIds.length === 0 ? [] : [{ ...this.#delete, values: [bigintArray(inboxIds)] }]
  }

  /** Marks staged submits as failed, for an operator to inspect. */
  setAside(failures: readonly { readonly inboxId: number; readonly reason: string }[]): Statement[] {
    if (failures.length === 0) return []
    const ids = bigintArray(failures.map(({ inboxId }) => inboxId))
    return [{ ...this.#fail, values: [ids, textArray(failures.map(({ reason }) => reason))] }]
  }

  /** Returns the statement that stages a submit, to be run in the caller's transaction. */
  staging(
    number: number,
    call: Call<'createExecution'>,
    notification: string,
  ): { readonly text: string; readonly values: readonly unknown[] } {
    const { input, blobs } = call
    const payload = blobs[0] === undefined ? null : Buffer.from(blobs[0])
    return { text: this.#insertText, values: [number, input.executionId, JSON.stringify(input), payload, notification] }
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
