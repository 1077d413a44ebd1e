/**
 * A release in which a branch fails. Its downstream nodes are skipped, the other branch continues, and the flow fails. After
 * the cause is fixed, the failed node is replayed together with the nodes that were skipped because of it, and the flow
 * completes.
 *
 *   npx node examples/release-train.ts [location of a store]
 */
import { EngineError, PermanentError, allOf, flow, task } from '../src/index.ts'
import type { FlowHandle } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

interface Image {
  readonly image: string
}

const build = task<{ version: string }, Image>('build')
const check = task<{ kind: string }, string, { build: Image }>('check')
const writeNotes = task<{ version: string }, string>('notes')
const deploy = task<{ stage: string }, string, { build: Image }>('deploy')
const announce = task<{ version: string }, string>('announce')

const release = flow('release', (f, input: { version: string }) => {
  const image = f.node('build', build, { input })
  const unit = f.node('unit', check, { after: allOf(image), input: { kind: 'unit' } })
  const browser = f.node('browser', check, { after: allOf(image), input: { kind: 'browser' } })
  const notes = f.node('notes', writeNotes, { input })
  const staging = f.node('staging', deploy, { after: allOf(image, unit, browser), input: { stage: 'staging' } })
  const live = f.node('live', deploy, { after: allOf({ build: image }, { staging }), input: { stage: 'live' } })
  return f.node('announce', announce, { after: allOf(live, notes), input })
})

/** The cause of the failure. */
let browserStarts = false

const handlers = [
  build.handle(({ version }) => ({ image: `shop:${version}` })),
  check.handle(({ kind }, { inputs }) => {
    if (kind === 'browser' && !browserStarts) throw new PermanentError('the browser does not start')
    return `${kind} tests of ${inputs.build.image} passed`
  }),
  writeNotes.handle(({ version }) => `what is new in ${version}`),
  deploy.handle(({ stage }, { inputs }) => `${inputs.build.image} runs on ${stage}`),
  announce.handle(({ version }) => `${version} is out`),
]

async function printMembers(handle: FlowHandle): Promise<void> {
  for await (const { node, state } of handle.members()) console.log(`  ${node}: ${state}`)
}

await using opened = await openFabric()
const { fabric } = opened
await fabric.work(handlers)

const handle = await fabric.submit(release, { version: '4.2' })
try {
  await handle.result()
} catch (error) {
  if (!(error instanceof EngineError)) throw error
  console.log(`${error.code}: ${error.message}`)
}
await printMembers(handle)

browserStarts = true
console.log('The browser is fixed. Replaying from there:')
await handle.replay('browser', { subtree: true, reason: 'the browser is fixed' })
console.log(await handle.result())
await printMembers(handle)
