/** The program of one process of a fleet: submits its part of the work, and works on whatever the fleet has submitted. */
import { withInFlight } from '../load.ts'
import { serveParent } from '../processes/duties.ts'
import type { ProcessUse } from '../processes/process-use.ts'
import { SUBMITS_IN_FLIGHT } from '../stages.ts'
import { loadOf } from '../workload.ts'
import { bullmqMember } from './bullmq.ts'
import { flowfabricMember } from './flowfabric.ts'
import type { MemberOrder, MemberSession, MemberSystem } from './member.ts'

const systems = { flowfabric: flowfabricMember, bullmq: bullmqMember } as const satisfies Record<string, MemberSystem>

export type FleetSystem = keyof typeof systems

/** Numbers of the executions that one process submits. */
export interface SubmitRange {
  readonly first: number
  readonly count: number
}

export type MemberDuties = {
  readonly open: (order: MemberOrder & { readonly system: FleetSystem }) => Promise<void>
  /** Resolves when the store has acknowledged all of them. */
  readonly submit: (range: SubmitRange) => Promise<void>
  readonly completedCount: (input: null) => Promise<number>
  readonly storedCount: (input: null) => Promise<number>
  readonly use: (input: null) => Promise<ProcessUse>
  readonly close: (input: null) => Promise<void>
}

let session: MemberSession | undefined

function opened(): MemberSession {
  if (session === undefined) throw new Error('The process has no open store.')
  return session
}

const duties: MemberDuties = {
  open: async ({ system, ...order }) => {
    session = await systems[system].open(order)
  },
  submit: async ({ first, count }) => {
    const { submit } = opened()
    await withInFlight(count, SUBMITS_IN_FLIGHT, (number) => submit(loadOf(first + number)))
  },
  completedCount: async () => opened().completedCount(),
  storedCount: () => opened().storedCount(),
  use: async () => opened().use(),
  close: async () => {
    await opened()[Symbol.asyncDispose]()
    session = undefined
  },
}

serveParent(duties)
