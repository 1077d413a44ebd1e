/** Judges what a store is left with: every sentence it returns names a promise that was broken. */
import {
  UNDER_LEASE,
  entriesOf,
  followUpKey,
  payloadKeyOf,
  resultKey,
  signalPayloadKey,
  valueKeyOf,
} from '../../src/kernel/index.ts'
import type { Execution, IndexEntry } from '../../src/kernel/index.ts'
import { flowKeys } from '../conformance/execution-invariants.ts'
import { streamKeys } from '../conformance/stream-invariants.ts'
import type { PartitionDump, StoredEvent } from '../../src/stores/store.ts'

export function findFaults(dump: PartitionDump): string[] {
  return [...faultsOfOrder(dump), ...faultsOfIndexes(dump), ...faultsOfBlobs(dump), ...faultsOfExecutions(dump)]
}

export function executionsOf(dump: PartitionDump): Execution[] {
  return dump.records.filter((record) => record.type === 'execution')
}

/** The log has no gap and nothing was trimmed from it, so that it holds every life from its beginning. */
function faultsOfOrder({ events }: PartitionDump): string[] {
  return events.flatMap(({ sequence }, place) =>
    sequence === place + 1 ? [] : [`event number ${place + 1} has the sequence ${sequence}`],
  )
}

function faultsOfIndexes({ records, entries }: PartitionDump): string[] {
  const derived = new Set(records.flatMap((record) => entriesOf(record)).map(entryText))
  const stored = new Set(entries.map(entryText))
  return [
    ...missingFrom(stored, derived).map((entry) => `the index entry ${entry} is missing`),
    ...missingFrom(derived, stored).map((entry) => `the index entry ${entry} belongs to no record`),
  ]
}

function missingFrom(set: ReadonlySet<string>, wanted: ReadonlySet<string>): string[] {
  return [...wanted].filter((text) => !set.has(text))
}

function entryText({ index, score, id }: IndexEntry): string {
  return JSON.stringify([index, score, id])
}

function faultsOfBlobs(dump: PartitionDump): string[] {
  const named = new Set<string>()
  for (const execution of executionsOf(dump)) {
    const { id, payload, result, followUp } = execution
    if (payload !== undefined) named.add(payloadKeyOf(execution))
    if (followUp?.payload !== undefined) named.add(followUpKey(execution))
    if (result !== undefined) named.add(resultKey(id))
  }
  for (const record of dump.records) {
    if (record.type === 'flow') for (const key of flowKeys(record)) named.add(key)
    for (const key of streamKeys(record)) named.add(key)
    if (record.type === 'signal' && record.payload !== undefined) named.add(signalPayloadKey(record.id))
    if (record.type !== 'step' || record.state.phase !== 'completed') continue
    if (record.state.value !== undefined) named.add(valueKeyOf(record))
  }
  const stored = new Set(dump.blobKeys)
  return [
    ...missingFrom(stored, named).map((key) => `the bytes ${JSON.stringify(key)} are missing`),
    ...missingFrom(named, stored).map((key) => `the bytes ${JSON.stringify(key)} belong to no record`),
  ]
}

function faultsOfExecutions(dump: PartitionDump): string[] {
  const lives = Map.groupBy(dump.events, (event) => event.executionId)
  const faults: string[] = []
  for (const execution of executionsOf(dump)) {
    const life = new Life(execution)
    for (const event of lives.get(execution.id) ?? []) life.follow(event)
    life.close()
    faults.push(...life.faults)
    lives.delete(execution.id)
  }
  for (const id of lives.keys()) faults.push(`${id} has events, but no record`)
  return faults
}

/** One execution's events, followed in order. The holder of the lease must give it back before another takes it. */
class Life {
  readonly faults: string[] = []
  readonly #execution: Execution
  #isCreated = false
  #lastEpoch = 0
  #holder: StoredEvent | undefined
  #end: StoredEvent | undefined

  constructor(execution: Execution) {
    this.#execution = execution
  }

  follow(event: StoredEvent): void {
    if (!this.#isCreated && event.type !== 'execution_created') this.#fault(`${event.type} comes before its creation`)
    if (this.#end !== undefined) this.#fault(`${event.type} comes after its end`)
    switch (event.type) {
      case 'execution_created':
        if (this.#isCreated) this.#fault('it is created twice')
        this.#isCreated = true
        return
      case 'attempt_started':
        this.#take(event)
        return
      case 'attempt_failed':
      case 'lease_expired':
      case 'lease_revoked':
      case 'execution_released':
      case 'execution_delayed':
      case 'execution_suspended':
        this.#giveBack(event)
        return
      case 'execution_ended':
        this.#finish(event)
        return
      case 'progress_updated':
      case 'cancel_requested':
      case 'step_recorded':
        if (this.#holder === undefined) this.#fault(`${event.type} comes while it has no holder`)
        return
      case 'execution_unwinding':
        if (event.effect === UNDER_LEASE) {
          if (this.#holder === undefined) this.#fault('it undoes its steps under a lease while it has no holder')
          return
        }
        // Whether or not it was held: the holder has lost it.
        this.#holder = undefined
        return
      case 'execution_promoted':
        if (this.#holder !== undefined) this.#fault('it is promoted while it has a holder')
        return
      case 'execution_resumed':
        if (this.#holder !== undefined) this.#fault('it is resumed while it has a holder')
        return
      case 'signal_received':
        return
      case 'execution_replaced':
      case 'execution_replayed':
      case 'execution_purged':
      case 'priority_changed':
      case 'tags_set':
      case 'execution_blocked':
      case 'execution_unblocked':
      case 'flow_created':
      case 'flow_sealed':
      case 'flow_ended':
      case 'flow_cancelled':
      case 'flow_reopened':
      case 'flow_purged':
      case 'wait_reminded':
      case 'wait_escalated':
      case 'waitpoint_opened':
      case 'waitpoint_closed':
      case 'follow_up_set':
      case 'follow_up_started':
      case 'follow_up_dropped':
      case 'worker_registered':
      case 'worker_unregistered':
      case 'worker_draining':
      case 'worker_lost':
      case 'worker_dead':
      case 'lane_changed':
      case 'schedule_changed':
      case 'schedule_skipped':
      case 'budget_changed':
      case 'budget_warned':
      case 'budget_breached':
      case 'order_continued':
        this.#fault(`${event.type} is logged without a request`)
        return
    }
  }

  /** Compares the record with the events. */
  close(): void {
    const { state, epoch } = this.#execution
    if (!this.#isCreated) this.#fault('its creation is not in the log')
    if (epoch !== this.#lastEpoch) this.#fault(`its record has epoch ${epoch}, its events end with ${this.#lastEpoch}`)
    if ((state.phase === 'active') !== (this.#holder !== undefined)) {
      this.#fault(`its record is ${state.phase}, but by its events it is ${this.#holder ? '' : 'not '}held`)
    }
    const outcome = state.phase === 'ended' ? state.outcome : undefined
    if (outcome !== this.#end?.outcome) {
      this.#fault(`its record has ${outcome ?? state.phase}, its events have ${this.#end?.outcome ?? 'no end'}`)
    }
  }

  #take(event: StoredEvent): void {
    const epoch = event.epoch ?? 0
    if (this.#holder !== undefined) this.#fault(`epoch ${epoch} begins while epoch ${this.#holder.epoch} is held`)
    if (epoch <= this.#lastEpoch) this.#fault(`epoch ${epoch} follows epoch ${this.#lastEpoch}`)
    this.#lastEpoch = epoch
    this.#holder = event
  }

  #giveBack(event: StoredEvent): void {
    if (this.#holder?.epoch !== event.epoch || this.#holder === undefined) {
      this.#fault(`${event.type} names epoch ${event.epoch}, but ${this.#holder?.epoch ?? 'no worker'} holds it`)
    }
    this.#holder = undefined
  }

  /** Any caller may cancel or expire what is held or not; only the holder can complete it. */
  #finish(event: StoredEvent): void {
    this.#end = event
    if (event.outcome === 'completed') {
      if (this.#holder?.workerInstanceId !== event.workerInstanceId) {
        this.#fault(`${event.workerInstanceId} completes what ${this.#holder?.workerInstanceId ?? 'no worker'} holds`)
      }
      this.#giveBack(event)
    }
    this.#holder = undefined
  }

  #fault(text: string): void {
    this.faults.push(`${this.#execution.id} (${this.#execution.task}): ${text}`)
  }
}
