/**
 * Three of five are enough: a document is copied to five places, and counts as stored once three of them have it. One place
 * is broken and one is slow; neither delays the flow. If a third place failed, the confirmation would be skipped.
 *
 *   npx node examples/quorum.ts [location of a store]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { PermanentError, flow, quorum, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const NEEDED = 3

interface Copy {
  readonly document: string
  readonly place: string
}

const keep = task<Copy, { place: string }>('copy.keep')
const confirm = task<{ document: string }, string>('copy.confirm')

// Only the last node determines the outcome of the flow, so a broken place does not fail it.
const store = flow(
  'store-document',
  { outcome: 'sinks' },
  (f, input: { document: string; places: readonly string[] }) => {
    const { document, places } = input
    const copies = places.map((place) => f.node(place, keep, { input: { document, place } }))
    return f.node('confirm', confirm, { after: quorum(NEEDED, copies), input: { document } })
  },
)

const keepHandler = keep.handle(async ({ place }, ctx) => {
  if (place === 'oslo') throw new PermanentError('the disk is full')
  await sleep(place === 'lima' ? 60_000 : 50, undefined, { signal: ctx.signal })
  console.log(`${place}: has it`)
  return { place }
})

const confirmHandler = confirm.handle(({ document }, { inputs }) => {
  const places = Object.keys(inputs).sort()
  return `${document} is kept in ${places.join(', ')}`
})

await using opened = await openFabric()
const { fabric } = opened
await fabric.work([keepHandler, confirmHandler])

const places = ['bern', 'cairo', 'lima', 'oslo', 'tokyo']
const handle = await fabric.submit(store, { document: 'the will', places })
console.log(await handle.result())
const { state, counts } = await handle.describe()
console.log(
  `the flow ${state}: ${counts.completed} completed, ${counts.failed} failed, ${counts.superseded} not needed`,
)
