/**
 * A deployment that two of three people have to approve. Each person gets a signed link, which identifies the voter: a
 * second vote does not count, and a forged link is refused.
 *
 *   npx node examples/deploy-approval.ts [location of a store]
 */
import { EngineError, KeyRing, approval, task } from '../src/index.ts'
import type { Duration } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const PEOPLE = ['ada', 'bob', 'eve']

const deploy = task<{ version: string; patience: Duration }, string>('deploy')

/** Simulates mail: the link for each version and person. */
const inbox = new Map<string, string>()

const deployHandler = deploy.handle(async ({ version, patience }, ctx) => {
  // The waitpoint is opened before the wait, so that links can be sent. They stay valid after a crash of the worker.
  const gate = await ctx.waitpoint('gate')
  for (const person of PEOPLE) {
    await ctx.step(`ask ${person}`, () => {
      inbox.set(`${version} ${person}`, gate.token({ for: person, expires: '3d', names: ['approve', 'reject'] }))
    })
  }
  const review = await ctx.waitFor('review', approval({ on: gate, need: 2, of: PEOPLE, timeout: patience }))
  const names = review.votes.map(({ by, verdict }) => `${by.identity} (${verdict})`).join(', ')
  if (!review.ok) return `${version} stays out: ${review.reason}${names === '' ? '' : ` by ${names}`}`
  await ctx.step('roll out', () => console.log(`${version} is rolled out`))
  return `${version} is live, thanks to ${names}`
})

// A program in production reads its keys from a file: createFabric(location, { keys: { file: './flowfabric.keys' } }).
await using opened = await openFabric({ keys: KeyRing.begin(Date.now()) })
const { fabric } = opened
await fabric.work([deployHandler])

/** Starts a deployment and waits until all links are sent. */
async function start(version: string, patience: Duration) {
  const execution = await fabric.submit(deploy, { version, patience })
  for await (const item of execution.events({ fromStart: true })) {
    if (item.kind === 'event' && item.event.type === 'execution_suspended') break
  }
  return execution
}

/** Does what the page behind the link would do. */
async function click(version: string, person: string, verdict: 'approve' | 'reject', pretendsToBe?: string) {
  const link = inbox.get(`${version} ${person}`) ?? ''
  const vote = `${version}: ${person}${pretendsToBe === undefined ? '' : ` as ${pretendsToBe}`} says ${verdict}`
  try {
    const { effect } = await fabric.answer(pretendsToBe === undefined ? link : forge(link, pretendsToBe), verdict)
    console.log(`${vote}: ${effect}`)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    console.log(`${vote}: ${error.code}`)
  }
}

/** Replaces the name in a link. */
function forge(link: string, person: string): string {
  const [version, key, claims = '', mac] = link.split('.')
  const edited = Buffer.from(claims, 'base64url')
    .toString()
    .replace(/"(ada|bob|eve)"/, `"${person}"`)
  return [version, key, Buffer.from(edited).toString('base64url'), mac].join('.')
}

const first = await start('4.2', '3d')
await click('4.2', 'ada', 'approve')
await click('4.2', 'ada', 'approve')
await click('4.2', 'ada', 'approve', 'bob')
await click('4.2', 'bob', 'approve')
console.log(await first.result())
await click('4.2', 'eve', 'reject')

const second = await start('4.3', '3d')
await click('4.3', 'ada', 'approve')
await click('4.3', 'eve', 'reject')
console.log(await second.result())

const third = await start('4.4', '1s')
console.log(await third.result())
