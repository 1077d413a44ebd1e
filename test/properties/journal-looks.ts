/** Looks at what executions remember, as calls: each continues where the last of its kind ended. */
import type { ExecutionId, Position } from '../../src/kernel/index.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
import { call } from '../conformance/fabric.ts'
import type { JournalCommand } from './journal-commands.ts'

type Result = Extract<Answer, { kind: 'answered' }>['result']

type LookKind = 'read_steps' | 'read_signals' | 'list_waitpoints' | 'list_open_waitpoints'
type LookCommand = Extract<JournalCommand, { kind: LookKind }>

const LOOKS: readonly string[] = ['read_steps', 'read_signals', 'list_waitpoints', 'list_open_waitpoints']

export function isLook(command: JournalCommand): command is LookCommand {
  return LOOKS.includes(command.kind)
}

export class JournalLooks {
  readonly #id: (execution: number) => ExecutionId
  #stepFrom: number | undefined
  #signalFrom: number | undefined
  /** Of the waitpoints of one execution, or of all: whichever was listed last. */
  #cursor: Position | undefined

  constructor(id: (execution: number) => ExecutionId) {
    this.#id = id
  }

  callFor(command: LookCommand): Call {
    const { limit, isContinued } = command
    switch (command.kind) {
      case 'read_steps': {
        const from = isContinued ? this.#stepFrom : undefined
        return call('readSteps', {
          executionId: this.#id(command.execution),
          from,
          limit,
          values: command.isWithValues,
        })
      }
      case 'read_signals': {
        const { execution, to, isWithPayloads: payloads } = command
        const from = isContinued ? this.#signalFrom : undefined
        return call('readSignals', { executionId: this.#id(execution), from, to, limit, payloads })
      }
      case 'list_waitpoints': {
        const cursor = isContinued ? this.#cursor : undefined
        return call('listWaitpoints', { executionId: this.#id(command.execution), all: command.isOfAll, limit, cursor })
      }
      case 'list_open_waitpoints':
        return call('listOpenWaitpoints', { limit, cursor: isContinued ? this.#cursor : undefined })
    }
  }

  note(result: Result): void {
    switch (result.kind) {
      case 'steps':
        this.#stepFrom = result.next
        return
      case 'signals':
        this.#signalFrom = result.next
        return
      case 'waitpoints':
        this.#cursor = result.cursor
        return
      default:
    }
  }
}
