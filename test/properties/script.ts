/** Turns commands into calls. It learns leases and cursors from the answers, and makes every id from a counter. */
import { taskClass } from '../../src/kernel/index.ts'
import type {
  ClaimInput,
  ClaimResult,
  ExecutionId,
  Fence,
  FlowId,
  OperationInput,
  OperationName,
  Position,
  ReconcileCursor,
} from '../../src/kernel/index.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
import { call } from '../conformance/fabric.ts'
import { namespaces } from './commands.ts'
import type { Command } from './commands.ts'
import type { FlowScale } from './flow-commands.ts'
import { FlowScript } from './flow-script.ts'
import { GRAPHS } from './flow-sequences.ts'
import { isJournalCommand } from './journal-commands.ts'
import { JournalScript } from './journal-script.ts'

type CommandOf<K extends Command['kind']> = Extract<Command, { kind: K }>

export interface KnownLease {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

/** Answers after which the named execution has no holder, refusals among them. */
const LETTING_GO: readonly string[] = [
  'completed',
  'failed',
  'retry_scheduled',
  'released',
  'delayed',
  'cancelled',
  'revoked',
  'parked',
  'skipped',
  'suspended',
  'refused',
]

const NO_FENCE: Fence = { leaseId: 'never given out', epoch: 1, attempt: 1 }

/** An id is derived from its namespace, so an execution is only ever submitted in one. */
function namespaceOf(execution: number): string {
  return namespaces[execution % namespaces.length] ?? namespaces[0]
}

export class Script {
  /** Every lease that was ever handed out, newest last. */
  readonly leases: KnownLease[] = []
  /** Those of them that have not ended yet, by the answers. */
  #alive: KnownLease[] = []
  readonly #partition: number
  readonly #flows: FlowScript
  readonly #journals: JournalScript
  #ids = 0
  #lastCreate: OperationInput<'createExecution'> | undefined
  #lastCreateBytes: readonly Uint8Array[] = []
  #lastClaim: ClaimInput | undefined
  #lastReplay: OperationInput<'replayExecution'> | undefined
  #dueCursor: Position | undefined
  #purgeCursor: Position | undefined
  #listCursor: Position | undefined
  #reconcileCursor: ReconcileCursor | undefined

  /** Ids name the partition of their execution, so no two partitions share one. */
  constructor(partition = 0, scale: FlowScale = GRAPHS) {
    this.#partition = partition
    const pointers = {
      id: (execution: number) => this.#id(execution),
      flowId: (flow: number) => `f${this.#id(flow)}` as FlowId,
      lease: (fromTheEnd: number) => this.#lease(fromTheEnd),
      mint: (what: string) => this.#mint(what),
    }
    this.#flows = new FlowScript(scale, pointers)
    this.#journals = new JournalScript(pointers)
  }

  /** The call that a command stands for; undefined if it only moves the clock. */
  callFor(command: Command): Call | undefined {
    switch (command.kind) {
      case 'create':
        return this.#create(command)
      case 'claim':
        return call('claimForWorker', this.#claimInput(command))
      case 'complete':
        return this.#complete(command)
      case 'fail':
        return call('failExecution', {
          ...this.#lease(command.lease),
          failure: { category: command.category, message: command.message, stack: command.stack },
          retryAfterMs: command.retryAfterMs,
          seed: command.seed,
        })
      case 'renew':
        return call('renewLease', { ...this.#lease(command.lease), leaseTtlMs: command.leaseTtlMs })
      case 'release':
        return call('releaseExecution', { ...this.#lease(command.lease), reason: 'shutdown' })
      case 'delay':
        return call('delayExecution', { ...this.#lease(command.lease), delayMs: command.delayMs })
      case 'progress': {
        const { percent, message } = command
        return call('updateProgress', { ...this.#lease(command.lease), percent, message })
      }
      case 'cancelOwn':
        return call('cancelExecution', {
          ...this.#lease(command.lease),
          reason: 'no',
          by: 'w',
          force: false,
          graceMs: 0,
        })
      case 'cancel': {
        const { reason, force, graceMs } = command
        return call('cancelExecution', { executionId: this.#id(command.execution), reason, by: 'me', force, graceMs })
      }
      case 'revoke':
        return this.#revoke(command)
      case 'changePriority':
        return call('changePriority', { executionId: this.#id(command.execution), priority: command.priority })
      case 'setTags':
        return call('setTags', {
          executionId: this.#id(command.execution),
          set: command.set.map(withIndex),
          remove: command.remove,
        })
      case 'replay':
        return this.#replay(command)
      case 'due':
        return call('runDue', {
          limit: command.limit,
          filter: command.filter,
          from: command.isContinued ? this.#dueCursor : undefined,
          seed: command.seed,
        })
      case 'purge':
        return call('purgeExecutions', {
          filter: command.filter,
          from: command.isContinued ? this.#purgeCursor : undefined,
        })
      case 'describe':
        return call('describeExecution', {
          executionId: this.#id(command.execution),
          attempts: true,
          payload: true,
          result: true,
        })
      case 'list':
        return call('listExecutions', {
          namespace: command.namespace,
          lane: command.lane,
          state: command.state,
          tag: command.tag === undefined ? undefined : withIndex(command.tag),
          limit: command.limit,
          cursor: command.isContinued ? this.#listCursor : undefined,
        })
      case 'count':
        return call('countExecutions', { lane: command.lane })
      case 'explain':
        return call('explainExecution', { executionId: this.#id(command.execution) })
      case 'inspect':
        return call('inspectPartition', { limit: command.limit })
      case 'reconcile':
        return call('reconcileIndexes', { cursor: command.isContinued ? this.#reconcileCursor : undefined })
      case 'broken':
        return this.#broken(command)
      case 'advance':
        return undefined
      default:
        return isJournalCommand(command) ? this.#journals.callFor(command) : this.#flows.callFor(command)
    }
  }

  /** Learns from an answer what later commands can refer to. */
  note(sent: Call, answer: Answer | undefined): void {
    if (answer?.kind !== 'answered') return
    this.#flows.note(sent, answer)
    this.#journals.note(sent, answer)
    const { result } = answer
    const named = subjectOf(sent)
    if (LETTING_GO.includes(result.kind)) {
      this.#alive = this.#alive.filter(({ executionId }) => executionId !== named)
    }
    for (const { executionId, fence } of claimedBy(result)?.executions ?? []) {
      this.leases.push({ executionId, fence })
      this.#alive = [...this.#alive.filter((one) => one.executionId !== executionId), { executionId, fence }]
    }
    if (result.kind === 'due') this.#dueCursor = result.next
    if (result.kind === 'purged') this.#purgeCursor = result.next
    if (result.kind === 'listed') this.#listCursor = result.cursor
    if (result.kind === 'reconciled') this.#reconcileCursor = result.cursor
  }

  #create(command: CommandOf<'create'>): Call {
    const { execution, isRepeated, bytes, tags, kind: _kind, ...rest } = command
    const repeated = isRepeated ? this.#lastCreate : undefined
    if (repeated === undefined) {
      const namespace = namespaceOf(execution)
      this.#lastCreate = {
        ...rest,
        namespace,
        executionId: this.#id(execution),
        requestId: this.#mint('submit'),
        task: rest.class,
        class: taskClass(rest.class, undefined, { namespace }),
        tags: tags.map(withIndex),
        payload: bytes === undefined ? undefined : { blob: 0, size: bytes.byteLength, encoding: 'bytes' },
      }
      this.#lastCreateBytes = bytes === undefined ? [] : [bytes]
    }
    return call('createExecution', this.#lastCreate!, this.#lastCreateBytes)
  }

  #broken({ execution, lane, ifExists }: CommandOf<'broken'>): Call {
    return call('createExecution', {
      executionId: this.#id(execution),
      requestId: this.#mint('broken'),
      namespace: namespaceOf(execution),
      task: 'one',
      lane,
      class: taskClass('one', undefined, { namespace: namespaceOf(execution) }),
      priority: 1,
      tags: [],
      retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] },
      retentionMs: 0,
      payload: { blob: 1, size: 1, encoding: 'bytes' },
      ifExists,
    })
  }

  #claimInput(command: Omit<CommandOf<'claim'>, 'kind'>): ClaimInput {
    const { lanes, count, worker, isRepeated, leaseTtlMs, seed } = command
    if (isRepeated && this.#lastClaim !== undefined) return { ...this.#lastClaim, repeated: true }
    this.#lastClaim = {
      requestId: this.#mint('claim'),
      workerId: 'worker',
      workerInstanceId: `worker-${worker}`,
      queues: lanes.flatMap((lane) =>
        namespaces.flatMap((namespace) =>
          ['one', 'two'].map((task) => ({ lane, class: taskClass(task, undefined, { namespace }) })),
        ),
      ),
      count,
      leaseTtlMs,
      seed,
    }
    return this.#lastClaim
  }

  #complete(command: CommandOf<'complete'>): Call {
    const { lease, bytes, next } = command
    const result = bytes === undefined ? undefined : { blob: 0, size: bytes.byteLength, encoding: 'bytes' as const }
    const input = { ...this.#lease(lease), result, next: next === undefined ? undefined : this.#claimInput(next) }
    return call('completeExecution', input, bytes === undefined ? [] : [bytes])
  }

  #revoke(command: CommandOf<'revoke'>): Call {
    const leaseId = command.lease === undefined ? undefined : this.#lease(command.lease).fence.leaseId
    return call('revokeLease', { executionId: this.#id(command.execution), leaseId, reason: 'stuck', by: 'me' })
  }

  #replay(command: CommandOf<'replay'>): Call {
    if (!command.isRepeated || this.#lastReplay === undefined) {
      this.#lastReplay = {
        executionId: this.#id(command.execution),
        requestId: this.#mint('replay'),
        reason: 'again',
        by: 'me',
      }
    }
    return call('replayExecution', this.#lastReplay)
  }

  /** A number below zero points at a lease that may be alive. */
  #lease(fromTheEnd: number): KnownLease {
    const isAlive = fromTheEnd < 0 && this.#alive.length > 0
    const leases = isAlive ? this.#alive : this.leases
    const back = fromTheEnd < 0 ? -1 - fromTheEnd : fromTheEnd
    return leases.at(-1 - (back % Math.max(1, leases.length))) ?? { executionId: this.#id(0), fence: NO_FENCE }
  }

  #id(number: number): ExecutionId {
    return `${this.#partition}-00000000-0000-7000-8000-${number.toString().padStart(12, '0')}` as ExecutionId
  }

  #mint(what: string): string {
    this.#ids += 1
    return `${what}-${this.#ids}`
  }
}

/** What an answer handed out to a worker, be it of a claim or of a completion that claims the next. */
export function claimedBy(result: Extract<Answer, { kind: 'answered' }>['result']): ClaimResult | undefined {
  switch (result.kind) {
    case 'claimed':
      return result
    case 'completed':
    case 'already_completed':
    case 'unwound':
    case 'already_unwound':
      return 'next' in result ? result.next : undefined
    default:
      return undefined
  }
}

/** The execution that a call names, if it names one. */
export function subjectOf(sent: Call): ExecutionId | undefined {
  return 'executionId' in sent.input ? sent.input.executionId : undefined
}

export function isOperation<N extends OperationName>(sent: Call, name: N): sent is Call & Call<N> {
  return sent.operation === name
}

function withIndex(tag: { readonly name: string; readonly value: string }) {
  return { ...tag, indexed: tag.name === 'team' }
}
