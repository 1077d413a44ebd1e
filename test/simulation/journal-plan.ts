/** The signals of clients: early and late, twice, with old links, and again after a crash. */
import { EngineError } from '../../src/kernel/engine-error.ts'
import type { ExecutionHandle, SignalReceipt } from '../../src/client/index.ts'
import { sleep } from '../../src/runtime/index.ts'
import { refusable } from './refusable.ts'
import type { Scene } from './scene.ts'

type Handle = ExecutionHandle<string>

/** The answers to a late signal. */
const TOO_LATE = ['execution_ended', 'waitpoint_closed', 'invalid_token', 'execution_not_found']
/** How long a sender waits before it looks again for the place to send to. */
const LOOK_AGAIN_MS = 400
/** How often a signal is sent twice, and how often with a link that was replaced. */
const TWICE_RATE = 0.4
const REISSUE_RATE = 0.5
const SEND_WITHIN_MS = 2_500
const CALL_OFF_MS = 1_200

/** Each of several things, by name, some of them twice. The first often comes before the wait. */
export async function sendItems(handle: Handle, scene: Scene, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  if (scene.process.random() < 0.5) numbers.reverse()
  await Promise.all(numbers.map((number) => sendItem(handle, scene, number)))
}

async function sendItem(handle: Handle, scene: Scene, number: number): Promise<void> {
  const { fabric, process } = scene
  const value = `item ${number}`
  const send = () => fabric.signal(handle.id, 'item', value, { key: value, by: 'shop' })
  await sleep(process, process.random() * SEND_WITHIN_MS)
  do await note(handle, scene, '@item', value, value, send)
  while (process.random() < TWICE_RATE)
}

/** Two approve, one of them with two keys; a stranger approves too, and does not count. */
export async function voteOn(handle: Handle, scene: Scene, voters: readonly string[]): Promise<void> {
  const [first = '', second = ''] = voters
  const votes = [first, first, 'stranger', second].map((by, i) => ({ by, key: `vote ${i}` }))
  await Promise.all(votes.map((vote) => voteUntilHeard(handle, scene, vote)))
}

interface Ballot {
  readonly by: string
  readonly key: string
}

async function voteUntilHeard(handle: Handle, scene: Scene, { by, key }: Ballot): Promise<void> {
  const { fabric, process } = scene
  await sleep(process, process.random() * SEND_WITHIN_MS)
  const send = () => fabric.signal(handle.id, 'approve', key, { waitpoint: 'review', by, key })
  while (!(await isHeard(() => note(handle, scene, 'review', key, key, send)))) await sleep(process, LOOK_AGAIN_MS)
}

/** Until the place that it is sent to has been opened. */
async function isHeard(send: () => Promise<void>): Promise<boolean> {
  const heard = await refusable(['waitpoint_not_found'], () => send().then(() => true))
  return heard === true
}

/** The holder of a link answers with it. At times another one is issued first, and the old one must be refused then. */
export async function callBack(handle: Handle, scene: Scene): Promise<void> {
  const { process, witness } = scene
  let isToReissue = process.random() < REISSUE_RATE
  while (!(await hasEnded(handle))) {
    const link = witness.journals.links.findLast(({ executionId }) => executionId === handle.id)
    if (link !== undefined) {
      const token = isToReissue ? await reissue(handle, scene, link.token) : link.token
      if (token !== undefined && (await isAnswered(handle, scene, token))) return
      isToReissue = true
    }
    await sleep(process, LOOK_AGAIN_MS)
  }
}

async function reissue(handle: Handle, { fabric, witness }: Scene, old: string): Promise<string | undefined> {
  const { links } = witness.journals
  const fresh = await refusable(TOO_LATE, () => fabric.reissue(handle.id, 'reply', { for: 'ann', by: 'boss' }))
  if (fresh === undefined) return undefined
  links.push({ executionId: handle.id, token: fresh })
  const taken = await refusable([...TOO_LATE, 'token_expired'], () => fabric.answer(old, 'done', 'old', { key: 'old' }))
  if (taken !== undefined) witness.complaints.push(`a link of ${handle.id} was good although another was issued`)
  return fresh
}

/** False if yet another link was issued. */
async function isAnswered(handle: Handle, scene: Scene, token: string): Promise<boolean> {
  const send = () => scene.fabric.answer(token, 'done', 'answer', { key: 'answer' })
  const done = await refusable(['token_expired'], () =>
    note(handle, scene, 'reply', 'answer', 'answer', send).then(() => true),
  )
  return done === true
}

/** It waits for ever, and a client cancels it. */
export async function callOff(handle: Handle, { process, witness }: Scene): Promise<void> {
  await sleep(process, CALL_OFF_MS)
  const what = await refusable(['execution_ended'], () => handle.cancel('a changed mind'))
  if (what === 'cancelled' || what === 'cancel_requested') witness.deeds.push({ executionId: handle.id, what })
}

/** About when the wait times out. */
export async function sendLate(handle: Handle, scene: Scene, patienceMs: number): Promise<void> {
  const { fabric, process } = scene
  await sleep(process, patienceMs * (0.5 + process.random()))
  await note(handle, scene, '@go', 'go', 'go', () => fabric.signal(handle.id, 'go', 'go', { key: 'go' }))
}

/** An operator resumes it as soon as it waits. */
export async function resumeIt(handle: Handle, { fabric, process }: Scene): Promise<void> {
  for (;;) {
    const done = await refusable(['execution_not_suspended'], () =>
      fabric.resume(handle.id, { by: 'operator', reason: 'enough' }).then(() => true),
    )
    if (done === true || (await hasEnded(handle))) return
    await sleep(process, LOOK_AGAIN_MS)
  }
}

async function hasEnded(handle: Handle): Promise<boolean> {
  const state = await handle.state()
  return !['waiting', 'delayed', 'active', 'suspended'].includes(state)
}

async function note(
  handle: Handle,
  { witness }: Scene,
  target: string,
  key: string,
  value: string,
  send: () => Promise<SignalReceipt>,
): Promise<void> {
  const { sent } = witness.journals
  try {
    const { sequence, effect } = await send()
    sent.push({ executionId: handle.id, target, key, value, told: { sequence, effect } })
  } catch (error) {
    if (!(error instanceof EngineError) || !TOO_LATE.includes(error.code)) throw error
    sent.push({ executionId: handle.id, target, key, value, told: 'refused' })
  }
}
