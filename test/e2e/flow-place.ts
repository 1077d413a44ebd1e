/**
 * A folder with a flow, as a user would write it: a module with the definition and its handlers, a program that submits it
 * and a worker. Files control the flow: the check `unit` waits for a file `go`, the check `e2e` fails without a file
 * `mended`.
 */
import { onTestFinished } from 'vitest'
import { createFabric } from '../../src/index.ts'
import type { Fabric } from '../../src/index.ts'
import { until } from '../servers/until.ts'
import { workplace } from './workplace.ts'
import type { Ended, Running, Workplace } from './workplace.ts'

/** The longest that a flow may take to reach a state. */
const LIMIT_MS = 60_000

const FLOWS = `
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { PermanentError, allOf, flow, task } from 'flowfabric'

interface Image { readonly image: string }
const build = task<{ sha: string }, Image>('build')
const check = task<{ kind: string }, string, { build: Image }>('check')
const deploy = task<undefined, string, { unit: string; e2e: string }>('deploy')
const announce = task<undefined, string, { deploy: string }>('announce')

export const release = flow('release', (f, input: { sha: string }) => {
  const image = f.node('build', build, { input })
  const unit = f.node('unit', check, { after: allOf(image), input: { kind: 'unit' } })
  const e2e = f.node('e2e', check, { after: allOf(image), input: { kind: 'e2e' } })
  const deployed = f.node('deploy', deploy, { after: allOf(unit, e2e) })
  return f.node('announce', announce, { after: allOf(deployed) })
})

export const part = task<{ n: number }, number>('part')
export const join = task('join')

export const many = flow('many', (f, input: { count: number }) => {
  const parts = Array.from({ length: input.count }, (_, n) => f.node(\`part-\${n}\`, part, { input: { n } }))
  f.node('join', join, { after: allOf(parts) })
})

export const handlers = [
  build.handle(({ sha }) => ({ image: \`shop:\${sha}\` })),
  check.handle(async ({ kind }, { inputs, signal }) => {
    if (kind === 'e2e' && !existsSync('mended')) throw new PermanentError('the button is gone')
    while (kind === 'unit' && !existsSync('go')) await sleep(20, undefined, { signal })
    return \`\${kind} of \${inputs.build.image}\`
  }),
  deploy.handle((_input, { inputs }) => \`\${inputs.unit}, \${inputs.e2e}\`),
  announce.handle((_input, { inputs }) => \`deployed after \${inputs.deploy}\`),
  part.handle(({ n }) => n),
  join.handle(() => undefined),
]
`

const SUBMIT = `
import { createFabric } from 'flowfabric'
import { many, release } from './flows.ts'

const [id, count] = process.argv.slice(2)
await using fabric = await createFabric(process.env['FLOWFABRIC_STORE'] ?? 'sqlite:./flowfabric.db')
const handle =
  count === undefined
    ? await fabric.submit(release, { sha: '4f1c' }, { id })
    : await fabric.submit(many, { count: Number(count) }, { id })
console.log(handle.id)
`

const RESULT = `
import { createFabric } from 'flowfabric'
import { release } from './flows.ts'

await using fabric = await createFabric(process.env['FLOWFABRIC_STORE'] ?? 'sqlite:./flowfabric.db')
console.log(await fabric.flow(process.argv[2], release, { sha: '4f1c' }).result())
`

const WORKER = `
import { createFabric } from 'flowfabric'
import { handlers } from './flows.ts'

const fabric = await createFabric(process.env['FLOWFABRIC_STORE'] ?? 'sqlite:./flowfabric.db')
await fabric.work(handlers, { leaseTtl: process.argv[2], signals: true })
console.log('working')
`

const HELD = `
import { allOf, createFabric } from 'flowfabric'
import { join, part } from './flows.ts'

await using fabric = await createFabric(process.env['FLOWFABRIC_STORE'] ?? 'sqlite:./flowfabric.db')
const flow = await fabric.createFlow('import', { id: process.argv[2], hold: true })
const first = await flow.add('first', part, { n: 1 })
await flow.add('join', join, undefined, { after: allOf(first) })
`

export type Environment = Readonly<Record<string, string>>

export interface Member {
  readonly id: string
  readonly node: string
  readonly state: string
  readonly level: number
  readonly attempt: number
  readonly upstreams: readonly { readonly node: string; readonly isOpen: boolean }[]
}

export interface Shown {
  readonly id: string
  readonly state: string
  readonly counts: Readonly<Record<string, number>>
  readonly members: readonly Member[]
}

export class FlowPlace {
  readonly place: Workplace
  readonly #env: Environment
  #watching: Promise<Fabric> | undefined

  constructor(place: Workplace, env: Environment) {
    this.place = place
    this.#env = env
  }

  /** Submits the release under a key, or a flow of `count` parts. */
  async submit(key: string, count?: number): Promise<string> {
    return await this.#program('submit.ts', count === undefined ? [key] : [key, String(count)])
  }

  async createHeld(key: string): Promise<void> {
    await this.#program('held.ts', [key])
  }

  async result(key: string): Promise<string> {
    return await this.#program('result.ts', [key])
  }

  /** Starts a worker. By default its lease outlasts any stall of the machine; the successor of a killed worker waits for the lease. */
  async work(leaseTtl = '1m'): Promise<Running> {
    const worker = this.place.startNode(['worker.ts', leaseTtl], { env: this.#env })
    await worker.prints(/working/)
    return worker
  }

  start(...args: string[]): Running {
    return this.place.start(args, { env: this.#env })
  }

  async run(...args: string[]): Promise<Ended> {
    return await this.start(...args).end()
  }

  async json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...args, '--json')
    if (code !== 0) throw new Error(`flowfabric ${args.join(' ')} ended with ${code}\n${stderr}`)
    return JSON.parse(stdout) as T
  }

  async show(key: string): Promise<Shown> {
    return await this.json<Shown>('flow', 'show', key, '--members')
  }

  /** The state of each member by node. */
  async states(key: string): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries((await this.show(key)).members.map(({ node, state }) => [node, state]))
  }

  /** Waits in this process: one client that polls costs less than a command for each look. Answers the number of the attempt. */
  async untilNode(key: string, node: string, state: string): Promise<number> {
    const fabric = await this.#watch()
    return await until(`${node} of ${key} is ${state}`, LIMIT_MS, async () => {
      for await (const member of fabric.flow(key).members()) {
        if (member.node === node && member.state === state) return member.attempt
      }
      return undefined
    })
  }

  async untilState(key: string, state: string): Promise<void> {
    const fabric = await this.#watch()
    await until(`${key} is ${state}`, LIMIT_MS, async () =>
      (await fabric.flow(key).describe()).state === state ? true : undefined,
    )
  }

  async #watch(): Promise<Fabric> {
    const { FLOWFABRIC_STORE: store = `sqlite:${this.place.path('flowfabric.db')}` } = this.#env
    if (this.#watching === undefined) {
      const opening = createFabric(store, { create: false })
      this.#watching = opening
      onTestFinished(async () => (await opening).close())
    }
    return await this.#watching
  }

  async #program(file: string, args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.place.startNode([file, ...args], { env: this.#env }).end()
    if (code !== 0) throw new Error(`${file} ended with ${code}\n${stderr}`)
    return stdout.trim()
  }
}

export async function flowPlace(env: Environment = {}): Promise<FlowPlace> {
  const place = await workplace()
  await place.install()
  await place.write('flows.ts', FLOWS)
  await place.write('submit.ts', SUBMIT)
  await place.write('result.ts', RESULT)
  await place.write('worker.ts', WORKER)
  await place.write('held.ts', HELD)
  return new FlowPlace(place, env)
}
