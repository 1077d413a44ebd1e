/**
 * Submits mixed work, a few pieces at a time, and writes down each that was acknowledged. Restarted, it continues where
 * its record ends; a submit whose answer it may have missed is repeated under the same id.
 *
 *   node submitter-process.ts <store> <side record> <name> <per second>
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped } from './process.ts'
import { SideRecord, readSideRecord } from './side-record.ts'
import { keyOf, kindOf } from './work.ts'
import type { SubmitterEntry, Work } from './work.ts'

const [location = '', sideFile = '', submitter = '', perSecond = ''] = process.argv.slice(2)
const IN_FLIGHT = 8

class Submitter {
  readonly #fabric: Fabric
  readonly #side: SideRecord<SubmitterEntry>
  readonly #acknowledged: Set<number>
  readonly #stop = new AbortController()
  readonly #cancels = new Set<Promise<void>>()
  #next = 0

  constructor(fabric: Fabric) {
    this.#fabric = fabric
    const told = readSideRecord<SubmitterEntry>(sideFile)
    this.#acknowledged = new Set(told.filter(({ step }) => step === 'acknowledged').map(({ number }) => number))
    this.#side = new SideRecord(sideFile)
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => this.#submitSome()))
    await Promise.all(this.#cancels)
    this.#side.close()
  }

  stop(): void {
    this.#stop.abort()
  }

  async #submitSome(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      while (this.#acknowledged.has(this.#next)) this.#next += 1
      await this.#submit({ submitter, number: this.#next++ })
      await this.#pause((1_000 * IN_FLIGHT) / Number(perSecond))
    }
  }

  async #submit(work: Work): Promise<void> {
    const { task, submit, cancel, isTold } = kindOf(work)
    const execution = await this.#fabric.submit(task, work, { ...submit, id: keyOf(work) })
    this.#side.write({ step: 'acknowledged', number: work.number, executionId: execution.id })
    // It may have gone on without, and ended.
    if (isTold) for (const _ of [1, 2]) await this.#fabric.try.signal(execution.id, 'go', work.number, { key: 'go' })
    if (cancel === undefined) return
    const cancelled = this.#cancelLater(work, execution.id).finally(() => this.#cancels.delete(cancelled))
    this.#cancels.add(cancelled)
  }

  async #cancelLater(work: Work, executionId: string): Promise<void> {
    const { afterMs, ...options } = kindOf(work).cancel ?? { afterMs: 0 }
    await this.#pause(afterMs)
    const answer = await this.#fabric
      .cancel(executionId, 'its submitter changed its mind', options)
      .catch((error: unknown) => {
        if (error instanceof EngineError && error.code === 'execution_ended') return error.code
        throw error
      })
    this.#side.write({ step: 'cancelled', number: work.number, answer })
  }

  /** Ends early, not with an error, when it is time to stop. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined)
  }
}

await using fabric = await createFabric(location, { log: complainingLog })
const running = new Submitter(fabric)
void untilStopped().then(() => running.stop())
sayReady()
await running.run()
