/** Builders for worker registrations. */
import type { OperationInput, OperationName, OperationResult, Worker, WorkerFacts } from '../../src/kernel/index.ts'
import { STORE_PARTITION } from '../../src/stores/partitions.ts'
import type { StoredEvent } from '../../src/stores/store.ts'
import type { TestFabric } from './fabric.ts'

export const WORKER_TTL_MS = 15_000

const workerFacts: WorkerFacts = {
  workerId: 'pool',
  namespace: 'default',
  lanes: ['main'],
  tasks: [{ name: 'greet', version: undefined }],
  capabilities: ['gpu'],
  slots: 4,
  runningCount: 0,
  host: 'here',
  pid: 7,
  version: '1.0.0',
  ttlMs: WORKER_TTL_MS,
  leaseTtlMs: 30_000,
}

export interface Boot {
  readonly workerInstanceId: string
  readonly bootId: string
}

export const ADA: Boot = { workerInstanceId: 'ada', bootId: 'boot 1' }

export class GivenWorker {
  readonly #fabric: TestFabric

  constructor(fabric: TestFabric) {
    this.#fabric = fabric
  }

  register(boot: Boot = ADA, facts: Partial<WorkerFacts> = {}, takeover = false) {
    return this.#run('registerWorker', { ...boot, facts: { ...workerFacts, ...facts }, takeover })
  }

  heartbeat(boot: Boot = ADA, runningCount = 0, isDraining = false) {
    return this.#run('heartbeatWorker', { ...boot, runningCount, isDraining })
  }

  markDead({ workerInstanceId }: Boot = ADA) {
    return this.#run('markWorkerDead', { workerInstanceId, reason: 'the host burnt down', by: 'bob' })
  }

  duePass(): Promise<OperationResult<'runDue'>> {
    return this.#run('runDue', { limit: 100, seed: 1, family: 'm' })
  }

  async list(namespace?: string): Promise<Worker[]> {
    return (await this.#run('listWorkers', { limit: 100, namespace })).workers
  }

  async look({ workerInstanceId }: Boot = ADA): Promise<Worker | undefined> {
    return (await this.list()).find(({ id }) => id === workerInstanceId)
  }

  async events(): Promise<string[]> {
    const { events } = await this.#fabric.dump(STORE_PARTITION)
    return events.map(({ type }: StoredEvent) => type)
  }

  #run<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>> {
    return this.#fabric.runIn(STORE_PARTITION, operation, input)
  }
}
