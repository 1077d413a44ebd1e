/** What the clients of a world set out to do. A client that dies begins what it had not finished again when it is back. */
import { ExecutionEndedError } from '../../src/client/index.ts'
import type { ExecutionHandle, SubmitOptions } from '../../src/client/index.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { sleep } from '../../src/runtime/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import type { Chance } from './chance.ts'
import type { WorkItem, WorldConfig } from './config.ts'
import { callOff } from './journal-plan.ts'
import { flowKindNamed } from './flow-kinds.ts'
import { seeFlow } from './flow-plan.ts'
import type { Kind, Work, WorkTask } from './kind.ts'
import { kindNamed } from './kinds.ts'
import { ownInput } from './own-input.ts'
import { refusable } from './refusable.ts'
import type { Scene } from './scene.ts'
import type { Process } from './process.ts'
import type { Witness } from './witness.ts'

export interface Action {
  readonly client: number
  readonly atMs: number
  readonly label: string
  readonly run: (fabric: Fabric, process: Process) => Promise<void>
  isDone: boolean
}

/** How often a submit leaves the id to the client. */
const WITHOUT_KEY_RATE = 0.15
/** Those who share an id submit this close to each other. */
const SHARED_WITHIN_MS = 1_500
/** After an error of the store a client tries again. */
const AGAIN_AFTER_MS = 500
/** How often a client tries whether an id is free. */
const SUBMIT_AGAIN_MS = 2_500
/** One is changed, one removed. */
const NEW_TAGS = { team: 'green', room: undefined }

export function makePlan(config: WorldConfig, chance: Chance, witness: Witness): Action[] {
  return config.works.flatMap((item) => actionsFor(item, config, chance.fork(`work ${item.number}`), witness))
}

function actionsFor(item: WorkItem, config: WorldConfig, chance: Chance, witness: Witness): Action[] {
  const { number, kind: name } = item
  const { clients, submitWithinMs } = config
  const atMs = chance.between(0, submitWithinMs)
  const flowKind = flowKindNamed(name)
  if (flowKind !== undefined) {
    const work = { name: `${name}:${number}` }
    const run = (fabric: Fabric, process: Process) => seeFlow(flowKind, work, { fabric, process, witness })
    return Array.from({ length: flowKind.then.kind === 'follow' ? flowKind.then.count : 1 }, (_, other) => {
      const laterMs = other === 0 ? 0 : chance.between(0, SHARED_WITHIN_MS)
      return { client: (number + other) % clients, atMs: atMs + laterMs, label: work.name, run, isDone: false }
    })
  }
  const kind = kindNamed(name)
  const { then } = kind
  // A caller that shares an id, or sends more to the same execution, must know it.
  const isKnown = ['share', 'act', 'follow', 'resubmit'].includes(then.kind)
  const key = !isKnown && chance.happens(WITHOUT_KEY_RATE) ? undefined : `${name}:${number}`
  const options = { ...kind.submit(chance), ...(key === undefined ? {} : { id: key }) }
  const work = { name: `${name}:${number}`, ...(kind.shape === undefined ? {} : { shape: kind.shape }) }
  const piece: Piece = { kind, task: chance.pick(kind.submitted), work, options, witness }
  const by = (other: number, shared: Piece) => {
    const laterMs = other === 0 ? 0 : chance.between(0, SHARED_WITHIN_MS)
    return actionOf((number + other) % clients, atMs + laterMs, shared)
  }
  switch (then.kind) {
    case 'share': {
      const shared = { ...piece, options: { ...options, ifExists: then.ifExists } }
      return [by(0, piece), by(1, shared), by(2, shared)]
    }
    case 'follow':
      return Array.from({ length: then.count }, (_, other) => {
        const cancels = then.isCancelled && other === 0
        return by(other, { ...piece, options: { ...options, ifExists: 'after' }, cancels })
      })
    default:
      return [by(0, piece)]
  }
}

interface Piece {
  readonly kind: Kind
  readonly task: WorkTask
  readonly work: Work
  readonly options: SubmitOptions
  readonly witness: Witness
  /** Whether the submitter cancels it afterwards. */
  readonly cancels?: boolean
}

function actionOf(client: number, atMs: number, piece: Piece): Action {
  const run = (fabric: Fabric, process: Process) => see(piece, fabric, process)
  return { client, atMs, label: piece.work.name, run, isDone: false }
}

/** Does an action until it is done or its process ends. */
export async function perform(action: Action, fabric: Fabric, process: Process, witness: Witness): Promise<void> {
  while (!action.isDone) {
    try {
      await action.run(fabric, process)
      action.isDone = true
    } catch (error) {
      if (error instanceof EngineError && error.code === 'fabric_closed') return
      if (!(error instanceof EngineError) || !error.isRetryable) {
        witness.complaints.push(`${process.name} doing ${action.label} met ${String(error)}`)
        action.isDone = true
      }
      await sleep(process, AGAIN_AFTER_MS)
    }
  }
}

async function see(piece: Piece, fabric: Fabric, process: Process): Promise<void> {
  const handle = await refusable(['execution_exists', 'execution_in_progress'], () => submit(piece, fabric))
  if (handle !== undefined) await afterwards(piece, handle, { fabric, process, witness: piece.witness })
}

async function submit({ kind, task, work, options, witness }: Piece, fabric: Fabric): Promise<ExecutionHandle<string>> {
  const handle = await fabric.submit(task, kind.then.kind === 'follow' ? ownInput(work, witness) : work, options)
  const { id: executionId, created } = handle
  if (created !== undefined && created !== 'staged') {
    const { version } = task
    witness.acceptances.push({ executionId, key: options.id, task: kind.name, how: created, version })
  }
  return handle
}

async function afterwards(piece: Piece, handle: ExecutionHandle<string>, scene: Scene): Promise<void> {
  const { process, fabric, witness } = scene
  const executionId = handle.id
  const { kind } = piece
  const { then } = kind
  switch (then.kind) {
    case 'nothing':
    case 'share':
      return
    case 'follow':
      if (piece.cancels === true) await callOff(handle, scene)
      return
    case 'resubmit':
      await submitUntilFree(piece, scene)
      return
    case 'act':
      await then.act(handle, scene)
      return
    case 'crowd':
      await submitCrowd(kind, then.count, scene)
      return
    case 'wait':
      await waitForEnd(handle, witness)
      return
    case 'replay': {
      await waitForEnd(handle, witness)
      const done = await refusable(['execution_not_ended', 'replays_exhausted'], () =>
        handle.replay({ reason: 'once more' }).then(() => true),
      )
      if (done === true) witness.deeds.push({ executionId, what: 'replayed' })
      return
    }
    case 'cancel': {
      await sleep(process, then.afterMs)
      const what = await refusable(['execution_ended'], () => handle.cancel('a changed mind', then.options))
      if (what === 'cancelled' || what === 'cancel_requested') witness.deeds.push({ executionId, what })
      return
    }
    case 'set_tags':
      await handle.setTags(NEW_TAGS)
      witness.deeds.push({ executionId, what: 'tags_set', tags: NEW_TAGS })
      return
    case 'change_priority': {
      const done = await refusable(['execution_ended'], () => handle.changePriority(4_321).then(() => true))
      if (done === true) witness.deeds.push({ executionId, what: 'priority_changed' })
      return
    }
    case 'revoke':
      await sleep(process, 500)
      await refusable(['no_active_lease', 'stale_lease'], () => fabric.revokeLease(executionId, 'revoked by operator'))
      return
  }
}

/** Until the id was free, and another execution has it. */
async function submitUntilFree(piece: Piece, { fabric, process }: Scene): Promise<void> {
  const { dedupe: _dedupe, ...options } = piece.options
  for (;;) {
    await sleep(process, SUBMIT_AGAIN_MS)
    const { created } = await submit({ ...piece, options }, fabric)
    if (created === 'created') return
  }
}

async function submitCrowd(kind: Kind, count: number, { fabric, witness }: Scene): Promise<void> {
  const keys = Array.from({ length: count }, (_, i) => `crowd:${i}`)
  const items = keys.map((key) => ({ input: { name: key }, options: { id: key } }))
  for (const [i, outcome] of (await fabric.submitMany(kind.task, items)).entries()) {
    if (!outcome.ok) throw outcome.error
    const { id: executionId, created } = outcome.execution
    if (created === undefined || created === 'staged') continue
    witness.acceptances.push({ executionId, key: keys[i], task: kind.name, how: created, version: undefined })
  }
}

async function waitForEnd(handle: ExecutionHandle<string>, witness: Witness): Promise<void> {
  try {
    const result = await handle.result()
    witness.ends.push({ executionId: handle.id, outcome: 'completed', result })
  } catch (error) {
    if (!(error instanceof ExecutionEndedError)) throw error
    witness.ends.push({ executionId: handle.id, outcome: error.outcome, result: undefined })
  }
}
