/** Turns commands about steps, waits and signals into calls, and learns from the answers what tokens there are. */
import type {
  BlobInput,
  ConditionNode,
  DeliverSignalInput,
  ExecutionId,
  HolderInput,
  OperationInput,
  StepOutcome,
  WaitpointView,
} from '../../src/kernel/index.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
import { call } from '../conformance/fabric.ts'
import { isLook } from './journal-looks.ts'
import { JournalLooks } from './journal-looks.ts'
import type { JournalCommand } from './journal-commands.ts'

type CommandOf<K extends JournalCommand['kind']> = Extract<JournalCommand, { kind: K }>

/** What commands point at by number. */
export interface JournalPointers {
  readonly id: (execution: number) => ExecutionId
  readonly lease: (fromTheEnd: number) => HolderInput
  readonly mint: (what: string) => string
}

/** What a handler could make a token of. */
interface KnownWaitpoint {
  readonly executionId: ExecutionId
  readonly waitpoint: WaitpointView
}

const SLEEP: ConditionNode = {
  kind: 'timeout',
  parent: undefined,
  need: 1,
  by: 'once',
  name: undefined,
  from: [],
  targets: [],
}

/** The content of a forged token. */
const NO_WAITPOINT = { target: 'door', waitpointId: 'no', generation: 1, createdAt: 0 }

export class JournalScript {
  readonly #to: JournalPointers
  readonly #looks: JournalLooks
  /** Newest last. */
  readonly #known: KnownWaitpoint[] = []
  #lastReplay: OperationInput<'replayExecution'> | undefined

  constructor(to: JournalPointers) {
    this.#to = to
    this.#looks = new JournalLooks((execution) => to.id(execution))
  }

  callFor(command: JournalCommand): Call {
    if (isLook(command)) return this.#looks.callFor(command)
    switch (command.kind) {
      case 'record_step': {
        const { lease, stepKind, name, bytes } = command
        const held = this.#to.lease(lease)
        const outcome: StepOutcome = { kind: 'completed', value: blobOf(bytes) }
        return call('recordStep', { ...held, stepKind, name, attemptCount: 1, outcome }, blobsOf(bytes))
      }
      case 'fail_step':
      case 'retry_step':
        return this.#failStep(command)
      case 'suspend':
        return this.#suspend(command)
      case 'sleep': {
        const { lease, name, ms } = command
        const wait = { nodes: [SLEEP], opens: [], reason: 'sleep', timeoutMs: ms, onTimeout: 'resume' as const }
        return call('suspendExecution', { ...this.#to.lease(lease), stepKind: 'sleep', name, ...wait })
      }
      case 'open_waitpoint': {
        const { lease, target, expiresInMs } = command
        return call('createWaitpoint', { ...this.#to.lease(lease), target, expiresInMs, keyId: 'key-1' })
      }
      case 'signal':
        return this.#signal(command)
      case 'signal_by_token':
        return this.#signalByToken(command)
      case 'resume': {
        const { execution, name: step } = command
        return call('resumeExecution', { executionId: this.#to.id(execution), by: 'me', reason: 'enough', step })
      }
      case 'close_waitpoint':
        return this.#close(command)
      case 'reissue_waitpoint': {
        const { execution, target } = command
        return call('reissueWaitpoint', { executionId: this.#to.id(execution), target, keyId: 'key-2', by: 'me' })
      }
      case 'replay_from':
        return this.#replay(command)
    }
  }

  note(sent: Call, { result }: Extract<Answer, { kind: 'answered' }>): void {
    this.#looks.note(result)
    switch (result.kind) {
      case 'opened':
      case 'already_opened':
      case 'reissued':
        this.#learn(sent, [result.waitpoint])
        return
      case 'suspended':
        if ('waitpoints' in result) this.#learn(sent, result.waitpoints)
        return
      default:
    }
  }

  #learn({ input }: Call, waitpoints: readonly WaitpointView[]): void {
    if (!('executionId' in input)) return
    for (const waitpoint of waitpoints) this.#known.push({ executionId: input.executionId, waitpoint })
  }

  #failStep(command: CommandOf<'fail_step' | 'retry_step'>): Call {
    const { lease, name, category, message } = command
    const failed = { failure: { category, message, stack: undefined }, size: message.length }
    const outcome: StepOutcome =
      command.kind === 'fail_step'
        ? { kind: 'failed', ...failed }
        : { kind: 'retry', ...failed, delayMs: command.delayMs, park: command.park }
    const attemptCount = command.kind === 'fail_step' ? 1 : command.attemptCount
    return call('recordStep', { ...this.#to.lease(lease), stepKind: 'call', name, attemptCount, outcome })
  }

  #suspend(command: CommandOf<'suspend'>): Call {
    const { lease, name, nodes, isOpening, timeoutMs, isUntilExpiry, onTimeout } = command
    const { resumeDelayMs, remindEveryMs } = command
    const opens = isOpening ? nodes.flatMap(({ targets }) => targets).filter((target) => !target.startsWith('@')) : []
    return call('suspendExecution', {
      ...this.#to.lease(lease),
      stepKind: 'wait',
      name,
      nodes,
      opens,
      reason: 'größer',
      timeoutMs,
      untilExpiry: isUntilExpiry,
      onTimeout,
      resumeDelayMs,
      remindEveryMs,
      keyId: 'key-1',
    })
  }

  #signal({ execution, target, key, name, by, source, bytes }: CommandOf<'signal'>): Call {
    const from = { type: source, identity: by }
    return deliver({ executionId: this.#to.id(execution), target, key, name, source: from }, bytes)
  }

  #signalByToken(command: CommandOf<'signal_by_token'>): Call {
    const { key, name, by, bytes, astray } = command
    const known = this.#known.at(-1 - (command.token % Math.max(1, this.#known.length)))
    const executionId = astray === undefined ? (known?.executionId ?? this.#to.id(0)) : this.#to.id(astray)
    const source = { type: 'token' as const, identity: by }
    const { target, waitpointId, generation, createdAt: openedAt } = known?.waitpoint ?? NO_WAITPOINT
    return deliver({ executionId, target, key, name, source, token: { waitpointId, generation, openedAt } }, bytes)
  }

  #close({ execution, target, lease, isForced: force }: CommandOf<'close_waitpoint'>): Call {
    const about = { target, reason: 'no need', by: 'me', force }
    if (lease === undefined) return call('closeWaitpoint', { executionId: this.#to.id(execution), ...about })
    return call('closeWaitpoint', { ...this.#to.lease(lease), ...about })
  }

  #replay({ execution, name, isRepeated }: CommandOf<'replay_from'>): Call {
    if (!isRepeated || this.#lastReplay === undefined) {
      this.#lastReplay = {
        executionId: this.#to.id(execution),
        requestId: this.#to.mint('replay'),
        reason: 'again',
        by: 'me',
        from: name === undefined ? { kind: 'start' } : { kind: 'step', name },
      }
    }
    return call('replayExecution', this.#lastReplay)
  }
}

function deliver(input: DeliverSignalInput, bytes: Uint8Array | undefined): Call {
  return call('deliverSignal', { ...input, payload: blobOf(bytes) }, blobsOf(bytes))
}

function blobOf(bytes: Uint8Array | undefined): BlobInput | undefined {
  return bytes === undefined ? undefined : { blob: 0, size: bytes.byteLength, encoding: 'bytes' }
}

function blobsOf(bytes: Uint8Array | undefined): Uint8Array[] {
  return bytes === undefined ? [] : [bytes]
}
