/** A partition for tests of single rules: submit, claim, move the clock, look. */
import { operations } from '../../src/kernel/index.ts'
import type {
  ClaimInput,
  Claimed,
  CreateInput,
  Execution,
  ExecutionId,
  OperationInput,
  OperationName,
  OperationResult,
  Tx,
} from '../../src/kernel/index.ts'
import type { Fault } from './trials/fault.ts'
import { storedEvents, storedRecord } from './trials/memory.ts'
import type { Said } from './trials/memory.ts'
import { newClaim, newSubmit, newWorld, say } from './trials/world.ts'
import type { World } from './trials/world.ts'

const ID_DIGITS = 4

/** Ids sort as their numbers do. */
export function idOf(number: number): ExecutionId {
  return `0-${String(number).padStart(ID_DIGITS, '0')}` as ExecutionId
}

export class Partition {
  readonly world: World = newWorld()
  #submitted = 0
  #claims = 0

  advance(ms: number): void {
    this.world.now += ms
  }

  run<N extends OperationName>(name: N, input: OperationInput<N>): OperationResult<N> {
    const said = this.#say(name, input)
    if (said.kind === 'fault') throw new Error(`${name}: ${said.fault.reason} (${said.fault.recordId})`)
    return said.result
  }

  /** The fault that an operation is expected to meet. */
  faultOf<N extends OperationName>(name: N, input: OperationInput<N>): Fault {
    const said = this.#say(name, input)
    if (said.kind === 'fault') return said.fault
    throw new Error(`${name} met no fault.`)
  }

  /** Writes with no operation around them, as damage would or as other parts of the engine will. */
  write(change: (tx: Tx) => void): void {
    say(this.world, [], (tx) => {
      change(tx)
      return undefined
    })
  }

  submit(fields: Partial<CreateInput> = {}): ExecutionId {
    this.#submitted += 1
    const executionId = fields.executionId ?? idOf(this.#submitted)
    this.run('createExecution', {
      ...newSubmit(`submit-${this.#submitted}`),
      attemptTimeoutMs: undefined,
      totalTimeoutMs: undefined,
      ...fields,
      executionId,
    })
    return executionId
  }

  submitMany(count: number, fields: Partial<CreateInput> = {}): ExecutionId[] {
    return Array.from({ length: count }, () => this.submit(fields))
  }

  claim(fields: Partial<ClaimInput> = {}): readonly Claimed[] {
    this.#claims += 1
    return this.run('claimForWorker', { ...newClaim(`claim-${this.#claims}`), ...fields }).executions
  }

  /** Claims one execution and has it in hand. */
  hold(fields: Partial<ClaimInput> = {}): Claimed {
    const [held] = this.claim(fields)
    if (held === undefined) throw new Error('There was nothing to claim.')
    return held
  }

  execution(id: ExecutionId): Execution {
    const execution = storedRecord(this.world.memory, 'execution', id)
    if (execution === undefined) throw new Error(`There is no execution ${id}.`)
    return execution
  }

  exists(id: ExecutionId): boolean {
    return storedRecord(this.world.memory, 'execution', id) !== undefined
  }

  /** The types of all events of one execution, in order. */
  eventsOf(id: ExecutionId): string[] {
    return storedEvents(this.world.memory, 0)
      .filter((event) => event.executionId === id)
      .map((event) => event.type)
  }

  #say<N extends OperationName>(name: N, input: OperationInput<N>): Said<OperationResult<N>> {
    const operation = operations[name] as (tx: Tx, input: OperationInput<N>) => OperationResult<N>
    return say(this.world, ['bytes'], (tx) => operation(tx, input))
  }
}
