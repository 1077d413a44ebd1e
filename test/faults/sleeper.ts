/** A worker that never polls: it starts work only after a wake-up. */
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { keyOf } from '../crash/work.ts'
import { until } from '../servers/until.ts'
import type { Ledger } from './ledger.ts'
import { handlersOf, onePerPartition, plain } from './load.ts'

/** Far longer than any test. */
const NEVER = '1d'
const START_LIMIT_MS = 60_000
/** No other worker serves it. */
const LANE = 'alarms'

export class Sleeper implements AsyncDisposable {
  readonly #fabric: Fabric
  readonly #ledger: Ledger

  private constructor(fabric: Fabric, ledger: Ledger) {
    this.#fabric = fabric
    this.#ledger = ledger
  }

  static async start(location: string, ledger: Ledger): Promise<Sleeper> {
    const fabric = await createFabric(location, { log: ledger.log })
    await fabric.work(handlersOf([plain], ledger), { lanes: [LANE], sweep: NEVER, engine: false })
    return new Sleeper(fabric, ledger)
  }

  /**
   * Has another fabric submit one piece of work in every partition, once to see that all of it is started, and once more to
   * measure: after a fault, a worker waits a while before it asks again where it was not answered. Answers how long the
   * slowest of the second time took to be started.
   */
  async wakeMs(other: Fabric): Promise<number> {
    await this.#slowestStart(other)
    return await this.#slowestStart(other)
  }

  async #slowestStart(other: Fabric): Promise<number> {
    const waits = onePerPartition(other, 'alarm').map(async (work) => {
      const { id } = await other.submit(plain.task, work, { id: keyOf(work), lane: LANE })
      const submittedAt = performance.now()
      this.#ledger.acknowledge(keyOf(work), id)
      const look = async (): Promise<number | undefined> => this.#ledger.begunAt(id)
      return (await until(`${keyOf(work)} is begun`, START_LIMIT_MS, look)) - submittedAt
    })
    return Math.round(Math.max(0, ...(await Promise.all(waits))))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fabric.close()
  }
}
