/** Engines of several fabrics on one store, as those of several processes, and the operations that they run on it. */
import type { Engine, ScannerName } from '../../src/engine/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { batchOperations, operationsTotal } from '../../src/stores/store-metrics.ts'
import { until } from '../../test/servers/until.ts'

const FIRST_SWEEP_LIMIT_MS = 10_000

export interface FleetCalls {
  readonly operations: number
  readonly batches: number
}

export class IdleFleet implements AsyncDisposable {
  readonly #url: string
  readonly #opened = new AsyncDisposableStack()
  readonly #fabrics: Fabric[] = []

  constructor(url: string) {
    this.#url = url
  }

  /** Starts the engine of one more fabric, and waits until its due scanner has been everywhere once. */
  async start(): Promise<Fabric> {
    const fabric = this.#opened.use(await createFabric(this.#url))
    this.#fabrics.push(fabric)
    const engine = fabric.engine()
    await until('the engine sweeps for the first time', FIRST_SWEEP_LIMIT_MS, async () => {
      return cyclesOf(engine, 'due') > 0 || undefined
    })
    return fabric
  }

  /** What all of them have asked of the store. */
  calls(): FleetCalls {
    const samples = this.#fabrics.flatMap(({ metrics }) => metrics.snapshot())
    let [operations, batches] = [0, 0]
    for (const sample of samples) {
      if (sample.metric === operationsTotal && 'value' in sample) operations += sample.value
      if (sample.metric === batchOperations && 'count' in sample) batches += sample.count
    }
    return { operations, batches }
  }

  /** How often the first engine has been everywhere with a scanner. */
  cycleCount(scanner: ScannerName): number {
    const [first] = this.#fabrics
    return first === undefined ? 0 : cyclesOf(first.engine(), scanner)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync()
  }
}

function cyclesOf(engine: Engine, name: ScannerName): number {
  const found = engine.status().find(({ scanner }) => scanner === name)
  return found?.kind === 'enabled' ? found.cycleCount : 0
}
