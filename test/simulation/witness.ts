/** What the processes of a world saw, apart from the store: answers that callers got, what handlers did, what went wrong. */
import type { Created } from '../../src/client/executions/execution-handle.ts'
import type { Outcome } from '../../src/kernel/index.ts'
import type { Log, LogFields } from '../../src/runtime/index.ts'
import type { StoredEvent } from '../../src/stores/store.ts'
import type { Program } from './deploy.ts'
import { JournalNotes } from './journal-notes.ts'

/** A submit that was answered. */
export interface Acceptance {
  readonly executionId: string
  readonly key: string | undefined
  readonly task: string
  readonly how: Exclude<Created, 'staged'>
  /** The version of the task that was submitted. */
  readonly version: number | undefined
}

/** An acknowledged change of an execution. */
export interface Deed {
  readonly executionId: string
  readonly what: 'cancelled' | 'cancel_requested' | 'replayed' | 'tags_set' | 'priority_changed'
  /** What its tags were set to; undefined is none. */
  readonly tags?: Readonly<Record<string, string | undefined>>
}

/** One run of a handler's body. */
export interface Body {
  readonly number: number
  readonly executionId: string
  readonly task: string
  /** The version of the execution. */
  readonly version: number | undefined
  /** The program of its process. */
  readonly program: Program
  /** The name in its input. */
  readonly input: string
  readonly attempt: number
  /** What it was given of those that it waited for. */
  readonly inputs: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string
  readonly process: string
  readonly workerInstanceId: string
  readonly begunAt: number
  /** What it returned, if it came to that. */
  answer?: string
  /** Reports that the store took. */
  readonly progress: number[]
}

/** An end that was reported to a waiting caller. */
export interface ToldEnd {
  readonly executionId: string
  readonly outcome: Outcome
  readonly result: unknown
}

/** What one process has seen of the event log so far. */
export interface Follower {
  readonly process: string
  readonly events: StoredEvent[]
  /** How many gaps it got. */
  gapCount: number
  /** Whether it sees nothing more, because its process has ended or is about to. */
  readonly isOver: () => boolean
}

/** A flow that was submitted or opened, and answered. */
export interface FlowAcceptance {
  readonly flowId: string
  /** The name of its kind. */
  readonly kind: string
}

/** The end of a flow as reported to a waiting caller, or its cancel to the canceller. */
export interface ToldFlowEnd {
  readonly flowId: string
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  /** The result of the node that the flow's own function returned. */
  readonly result: unknown
}

export class Witness {
  readonly acceptances: Acceptance[] = []
  readonly flowAcceptances: FlowAcceptance[] = []
  readonly flowEnds: ToldFlowEnd[] = []
  readonly deeds: Deed[] = []
  readonly bodies: Body[] = []
  readonly ends: ToldEnd[] = []
  readonly followers: Follower[] = []
  readonly journals = new JournalNotes()
  /** Submits so far that needed an input of their own. */
  inputCount = 0
  /** Errors that no caller may get, whatever the faults. */
  readonly complaints: string[] = []

  /** Runs something in the background that should not fail. */
  watch(what: string, going: Promise<unknown>): void {
    going.catch((error: unknown) => void this.complaints.push(`${what} met ${String(error)}`))
  }

  /** Warnings report lost leases and retried calls, which are expected here; an error should not happen. */
  logFor(process: string): Log {
    return {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (fields, message) => void this.complaints.push(`${process}: ${message} ${textOf(fields)}`),
    }
  }
}

function textOf({ stack: _stack, ...fields }: LogFields): string {
  return JSON.stringify(fields)
}
