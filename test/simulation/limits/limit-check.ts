/** What must hold of limits at every moment, judged from the records, from the answers, and from the handlers that run. */
import type { AnyRecord, Gauge, Limit, OperationInput, OperationResult, RecordType } from '../../../src/kernel/index.ts'
import type { Partition, PartitionDump } from '../../../src/stores/store.ts'
import { problemsOf, sharedProblemsOf } from '../../conformance/invariants.ts'
import { limitProblems } from '../../conformance/limit-invariants.ts'
import type { Effect } from './effect.ts'
import { FairnessCheck } from './fairness-check.ts'
import type { LimitWorker } from './limit-worker.ts'
import { LIMIT_PARTITION, partitionOf } from './limit-worker.ts'

/** The records of a partition, as they are stored. */
export type Look = (partition: Partition) => ReadonlyMap<RecordType, ReadonlyMap<string, AnyRecord>>

interface Admission {
  readonly at: number
  weight: number
}

export class LimitCheck {
  readonly problems: string[] = []
  readonly #look: Look
  readonly #workers: () => Iterable<LimitWorker>
  /** All that was admitted of each key with a rate, and not taken back as unused. */
  readonly #admitted = new Map<string, Admission[]>()
  /** Until when each key is held back. */
  readonly #heldUntil = new Map<string, number>()
  /** Requests that were granted something. A repetition gets the same. */
  readonly #granted = new Set<string>()
  readonly #fairness = new FairnessCheck()

  constructor(look: Look, workers: () => Iterable<LimitWorker>) {
    this.#look = look
    this.#workers = workers
  }

  /** Judges what one call has changed. */
  judge(effect: Effect): void {
    const { partition, operation } = effect
    if (operation === 'claimForWorker') this.#judgeClaim(effect)
    if (operation === 'createExecution' || operation === 'claimForWorker') {
      this.problems.push(...this.#fairness.judge(effect, this.#look(partition)))
    }
    if (partition === LIMIT_PARTITION) this.problems.push(...limitProblems(this.#usage()))
    if (operation === 'holdLimit' || operation === 'liftHold') this.#noteHold(effect)
    if (operation === 'takePermits') this.#judgeTake(effect)
    if (operation === 'returnPermits') this.#noteReturn(effect)
    if (operation === 'takePermits' || operation === 'claimForWorker') this.#judgeHandlers(effect.now)
  }

  /** Judges a partition as a whole. */
  judgeWhole(partition: Partition, dump: PartitionDump, firstSequence: number): void {
    const found = partition.startsWith('fp') ? problemsOf(dump, firstSequence) : sharedProblemsOf(dump)
    this.problems.push(...found)
  }

  #usage(): PartitionDump {
    const records = this.#look(LIMIT_PARTITION)
    const used = (['gauge', 'holding'] as const).flatMap((type) => [...(records.get(type)?.values() ?? [])])
    return { records: used, entries: [], events: [] } as unknown as PartitionDump
  }

  /** No more handlers of a key run, with a lease that is valid, than permits of it are held. */
  #judgeHandlers(now: number): void {
    const running = new Map<string, number>()
    for (const worker of this.#workers()) {
      for (const { claimed, permits, isLost } of worker.bodies) {
        if (isLost || !this.#hasLease(claimed.executionId, worker.id, claimed.fence.epoch, now)) continue
        for (const { limit, key } of permits) running.set(`${limit}/${key}`, (running.get(`${limit}/${key}`) ?? 0) + 1)
      }
    }
    for (const [place, count] of running) {
      const [limit = '', key = ''] = place.split('/')
      const held = this.#gauge(limit, key)?.heldCount ?? 0
      if (count > held) this.problems.push(`${count} handlers run with ${held} permits of ${place}`)
    }
  }

  #hasLease(executionId: string, workerId: string, epoch: number, now: number): boolean {
    const execution = this.#look(partitionOf(executionId)).get('execution')?.get(executionId)
    if (execution?.type !== 'execution' || execution.state.phase !== 'active' || execution.epoch !== epoch) return false
    const { lease } = execution.state
    return lease.workerInstanceId === workerId && lease.expiresAt > now
  }

  #judgeClaim({ result, input, paused }: Effect): void {
    if ('repeated' in input) return
    for (const { executionId, lane } of (result as OperationResult<'claimForWorker'>).executions) {
      if (paused.has(lane)) this.problems.push(`${executionId} was claimed from a paused lane`)
    }
  }

  #judgeTake({ now, input, result }: Effect): void {
    const { requestId, requests } = input as OperationInput<'takePermits'>
    // A repetition gets what was taken before, and a cap that was lowered since is exceeded until permits return.
    if (this.#granted.has(requestId)) return
    for (const [i, { limit: name, key, granted, isCounted }] of (
      result as OperationResult<'takePermits'>
    ).answers.entries()) {
      const limit = this.#limit(name)
      if (granted === 0 || !isCounted || limit === undefined) continue
      this.#granted.add(requestId)
      const gauge = this.#gauge(name, key)
      const place = `${name}/${key}`
      if ((this.#heldUntil.get(place) ?? 0) > now)
        this.problems.push(`permits of ${place} were granted while it was held back`)
      if (limit.concurrency !== undefined && (gauge?.heldCount ?? 0) > limit.concurrency) {
        this.problems.push(`${gauge?.heldCount} permits of ${place} are held, and ${limit.concurrency} are allowed`)
      }
      this.#admit(limit, place, { at: now, weight: (requests[i]?.weight ?? 1) * granted })
    }
  }

  /** No window of the rate's length may admit more than its count, wherever it begins. */
  #admit({ rate }: Limit, place: string, admission: Admission): void {
    if (rate === undefined || admission.weight === 0) return
    const all = (this.#admitted.get(place) ?? []).filter(({ at }) => at > admission.at - rate.windowMs)
    all.push(admission)
    this.#admitted.set(place, all)
    const sum = all.reduce((total, { weight }) => total + weight, 0)
    if (sum > rate.count)
      this.problems.push(`${sum} of ${place} were admitted in a window, and ${rate.count} are allowed`)
  }

  #noteHold({ now, operation, input, result }: Effect): void {
    const { limit, key } = input as OperationInput<'liftHold'>
    const place = `${limit}/${key}`
    if (operation === 'liftHold') this.#heldUntil.delete(place)
    else if ((result as OperationResult<'holdLimit'>).kind !== 'refused') {
      this.#heldUntil.set(place, now + (result as { readonly retryAfterMs: number }).retryAfterMs)
    }
  }

  #noteReturn({ input, result }: Effect): void {
    const { returns } = input as OperationInput<'returnPermits'>
    for (const [i, { limit, key, returned }] of (result as OperationResult<'returnPermits'>).answers.entries()) {
      const unused = returns[i]?.unused
      if (returned === 0 || unused === undefined) continue
      let left = unused.weight
      for (const own of this.#admitted.get(`${limit}/${key}`) ?? []) {
        if (own.at !== unused.takenAt) continue
        const taken = Math.min(left, own.weight)
        own.weight -= taken
        left -= taken
      }
    }
  }

  #gauge(limit: string, key: string): Gauge | undefined {
    const found = this.#look(LIMIT_PARTITION).get('gauge')?.get(`${limit}\u001f${key}`)
    return found?.type === 'gauge' ? found : undefined
  }

  #limit(name: string): Limit | undefined {
    const found = this.#look(LIMIT_PARTITION).get('limit_definition')?.get(name)
    return found?.type === 'limit_definition' ? found : undefined
  }
}
