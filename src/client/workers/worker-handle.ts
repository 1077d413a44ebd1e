/** A worker process as an operator addresses it, wherever it runs. */
import { WORKER_REASON_BYTES } from '../../kernel/index.ts'
import type { ExecutionId } from '../../kernel/index.ts'
import { shape } from '../../options/shape.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { sweepWorker } from '../../stores/worker-sweep.ts'
import { checkGivenName, checkPrincipal, checkReason, invalidInput } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'

export interface DrainWorkerOptions {
  readonly reason?: string
  readonly by?: string
}

export interface MarkWorkerDeadOptions {
  readonly by?: string
}

export interface WorkerDeath {
  readonly kind: 'marked' | 'already_dead'
  /** Executions that the worker held, and that others can claim now. */
  readonly revoked: readonly ExecutionId[]
}

const drainOptions = shape<DrainWorkerOptions>()("{ reason: 'deploy' }", {
  reason: checkShortReason,
  by: checkPrincipal,
})
const deadOptions = shape<MarkWorkerDeadOptions>()("{ by: 'ada' }", { by: checkPrincipal })

const UNNAMED = 'client'

export class WorkerHandle {
  /** The instance id of the worker. */
  readonly id: string
  readonly #session: () => Session

  /** `session` throws once the client is closed. */
  constructor(session: () => Session, instanceId: string) {
    this.#session = session
    this.id = checkGivenName(instanceId, 'instanceId')
  }

  /** Asks the worker to finish its current work and to stop. It gets the request with its next heartbeat. */
  async drain(options: DrainWorkerOptions = {}): Promise<'drain_requested' | 'already_requested'> {
    const { reason, by = UNNAMED } = drainOptions(options)
    const input = { workerInstanceId: this.id, reason, by }
    return unwrap((await this.#session().runIn(STORE_PARTITION, 'drainWorker', input)).result).kind
  }

  /**
   * Declares that the process of the worker has ended, and revokes its leases, so that other workers continue its executions at
   * once. If it still runs, its results are refused.
   *
   * @example
   * await fabric.worker(instanceId).markDead('the host burnt down')
   */
  async markDead(reason: string, options: MarkWorkerDeadOptions = {}): Promise<WorkerDeath> {
    const session = this.#session()
    const { by = UNNAMED } = deadOptions(options)
    const input = { workerInstanceId: this.id, reason: checkShortReason(reason, 'reason'), by }
    const { kind, at, isSwept } = unwrap((await session.runIn(STORE_PARTITION, 'markWorkerDead', input)).result)
    if (isSwept) return { kind, revoked: [] }
    const worker = { workerInstanceId: this.id, workerId: '', since: at, silentMs: undefined, leaseTtlMs: 0 }
    return { kind, revoked: await sweepWorker(session.batcher, { ...worker, reason: input.reason, by }) }
  }
}

function checkShortReason(value: unknown, field: string): string {
  const reason = checkReason(value, field)
  if (Buffer.byteLength(reason) <= WORKER_REASON_BYTES) return reason
  throw invalidInput(field, `${field} has more than ${WORKER_REASON_BYTES} bytes.`)
}
