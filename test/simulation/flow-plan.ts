/** What a client does with a flow. One that dies begins again, and meets what it had made. */
import { EngineError } from '../../src/kernel/engine-error.ts'
import { allOf } from '../../src/client/index.ts'
import type { FlowHandle, FlowMember } from '../../src/client/index.ts'
import { sleep } from '../../src/runtime/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { assembledNodes, assembledTask } from './flow-kinds.ts'
import type { FlowKind } from './flow-kinds.ts'
import type { Work } from './kind.ts'
import { ownInput } from './own-input.ts'
import { refusable } from './refusable.ts'
import type { Scene } from './scene.ts'
import type { Witness } from './witness.ts'

export async function seeFlow(kind: FlowKind, work: Work, scene: Scene): Promise<void> {
  const handle = await (kind.then.kind === 'follow' ? beginAfter(kind, work, scene) : begin(kind, work, scene.fabric))
  scene.witness.flowAcceptances.push({ flowId: handle.id, kind: kind.name })
  await afterwards(kind, handle, scene)
}

async function begin({ flow }: FlowKind, work: Work, fabric: Fabric): Promise<FlowHandle> {
  if (flow !== 'assembled') return await fabric.submit(flow, work, { id: work.name })
  const open = await fabric.createFlow('assembled', { id: work.name, hold: true })
  const members = new Map<string, FlowMember<string>>()
  for (const { name, after } of assembledNodes) {
    const waits = after.map((node) => members.get(node)!)
    const options = waits.length === 0 ? {} : { after: allOf(waits) }
    members.set(name, await open.add(name, assembledTask, { name: `${work.name} ${name}` }, options))
  }
  await open.seal()
  return open
}

/** Submits one more run, with an input that no other submit has. */
async function beginAfter({ flow }: FlowKind, work: Work, { fabric, witness }: Scene): Promise<FlowHandle> {
  if (flow === 'assembled') throw new Error('What is put together step by step has no follow-up.')
  return await fabric.submit(flow, ownInput(work, witness), { id: work.name, ifExists: 'after' })
}

async function afterwards({ then }: FlowKind, handle: FlowHandle, { process, witness }: Scene): Promise<void> {
  switch (then.kind) {
    case 'nothing':
      return
    case 'wait':
    case 'follow':
      await waitForEnd(handle, witness)
      return
    case 'cancel': {
      await sleep(process, then.afterMs)
      const done = await refusable(['flow_ended'], () => handle.cancel('a changed mind', then.options))
      if (done !== undefined) witness.flowEnds.push({ flowId: handle.id, outcome: 'cancelled', result: undefined })
      return
    }
    case 'replay':
      if ((await waitForEnd(handle, witness)) !== 'failed') return
      // An earlier process of the same client may have replayed it before it died.
      await refusable(['execution_not_ended'], () => handle.replay(then.node, { reason: 'once more', subtree: true }))
      await waitForEnd(handle, witness)
      return
  }
}

async function waitForEnd(handle: FlowHandle, witness: Witness): Promise<'completed' | 'failed' | 'cancelled'> {
  try {
    const result = await handle.result()
    witness.flowEnds.push({ flowId: handle.id, outcome: 'completed', result })
    return 'completed'
  } catch (error) {
    if (!(error instanceof EngineError) || (error.code !== 'flow_failed' && error.code !== 'flow_cancelled'))
      throw error
    const outcome = error.code === 'flow_failed' ? 'failed' : 'cancelled'
    witness.flowEnds.push({ flowId: handle.id, outcome, result: undefined })
    return outcome
  }
}
