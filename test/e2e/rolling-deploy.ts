/**
 * A fleet of workers that is replaced process by process while work arrives: the program changes the inputs of its tasks, one
 * with a version and one without. Every run of a step, and every answer of a step, is one line of a file.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createFabric, task } from '../../src/index.ts'
import type { ExecutionHandle, Fabric } from '../../src/index.ts'
import { until } from '../servers/until.ts'
import { workplace } from './workplace.ts'
import type { Running, Workplace } from './workplace.ts'

const WORKER = `
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { PermanentError, createFabric, task } from 'flowfabric'

const [build, name] = process.argv.slice(2)
const isNew = build === 'new'
/** A schema without a library: it requires one of some fields. The new program still accepts old inputs. */
const names = isNew ? ['box', 'width'] : ['width']
const validate = (value: any) =>
  names.some((name) => name in value) ? { value } : { issues: [{ message: names.join(' and ') + ' are missing' }] }
const input = { '~standard': { version: 1 as const, vendor: 'e2e', validate } }
const versioned = task('versioned', { version: isNew ? 2 : 1 })
const changed = task('changed', { input })

const note = (line: string) => appendFileSync('steps.log', line + ' by ' + name + '\\n')

async function work(_input: unknown, ctx: any): Promise<string> {
  const step = async (part: string) => {
    const answer = await ctx.step(part, async (s: any) => {
      note(['run', ctx.executionId, part, build].join(' '))
      await sleep(20, undefined, { signal: s.signal })
      return build
    })
    note(['recorded', ctx.executionId, part, answer].join(' '))
    return answer
  }
  try {
    const first = await step('first')
    await sleep(300 + Math.random() * 1_200, undefined, { signal: ctx.signal })
    return first + ' ' + (await step('second'))
  } catch (error) {
    if (Math.random() < 0.5) return 'fallback'
    throw new PermanentError('it gives up', { cause: error })
  }
}

const fabric = await createFabric(process.env['FLOWFABRIC_STORE'] ?? 'sqlite:./flowfabric.db')
await fabric.work([versioned.handle(work), changed.handle(work)], {
  build, concurrency: 8, drainTimeout: '100ms', killTimeout: '5s', signals: true,
})
console.log('working')
`

const old = { versioned: task('versioned', { version: 1 }), changed: task('changed') }
const current = { versioned: task('versioned', { version: 2 }), changed: task('changed') }
const WORKER_COUNT = 2
const SUBMIT_EVERY_MS = 60
/** Submits of the old program, before the new one takes over. */
const OLD_SUBMIT_COUNT = 20
/** How long the fleet works before each replacement of a worker. */
const REPLACE_EVERY_MS = 1_500
const LIMIT_MS = 60_000

export function testRollingDeploy(env: () => Readonly<Record<string, string>>): void {
  test('a rolling deploy under load fails nothing, and runs nothing again that was recorded', async () => {
    const place = await workplace()
    await place.install()
    await place.write('worker.ts', WORKER)
    const { FLOWFABRIC_STORE: store = `sqlite:${place.path('flowfabric.db')}` } = env()
    await using fabric = await createFabric(store)
    const start = (build: string, name: string) => startWorker(place, [build, name], env())
    const names = Array.from({ length: WORKER_COUNT }, (_, number) => `old-${number}`)
    const fleet = await Promise.all(names.map((name) => start('old', name)))

    const deployed = new AbortController()
    const [executions] = await Promise.all([
      submitUntil(deployed.signal, fabric),
      replace(fleet, start, (number) => untilBetweenSteps(place, `old-${number}`)).finally(() => deployed.abort()),
    ])
    const ends = await Promise.all(executions.map((execution) => execution.wait()))

    expect(ends.map(({ outcome, failure }) => [outcome, failure?.message])).toEqual(
      executions.map(() => ['completed', undefined]),
    )
    expect(ends.filter(({ failureCount, reclaimCount }) => failureCount + reclaimCount > 0)).toEqual([])
    for (const { result } of ends) expect(result).toMatch(/^(old|new) (old|new)$/)
    expect(ends.some(({ result }) => result === 'old new')).toBe(true)
    expect(runsAfterRecord(await linesOf(place))).toEqual([])
  })
}

async function startWorker(
  place: Workplace,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  const worker = place.startNode(['worker.ts', ...args], { env })
  await worker.prints(/working/)
  return worker
}

/** Submits with the old program, then with the new one, so that the old workers meet new inputs. */
async function submitUntil(end: AbortSignal, fabric: Fabric): Promise<ExecutionHandle[]> {
  const executions: ExecutionHandle[] = []
  for (let number = 0; !end.aborted; number++) {
    const isOld = number < OLD_SUBMIT_COUNT
    const { versioned, changed } = isOld ? old : current
    const input = isOld
      ? { width: '3', number }
      : { box: '3x4', ...(isCompatible(number) ? { width: '3' } : {}), number }
    executions.push(await fabric.submit(number % 2 === 0 ? versioned : changed, input))
    await sleep(SUBMIT_EVERY_MS)
  }
  return executions
}

/** Half of the new inputs also fit the old schema. */
function isCompatible(number: number): boolean {
  return number % 4 === 1
}

/** Starts a new worker, then stops an old one while it is in the middle of an execution, one after the other. */
async function replace(
  fleet: readonly Running[],
  start: (build: string, name: string) => Promise<Running>,
  untilInTheMiddle: (number: number) => Promise<void>,
): Promise<void> {
  for (const [number, worker] of fleet.entries()) {
    await sleep(REPLACE_EVERY_MS)
    await start('new', `new-${number}`)
    await untilInTheMiddle(number)
    const { code } = await worker.endBy('SIGTERM')
    expect(code).toBe(0)
  }
}

/** Waits until a worker has just recorded the first step of an execution, so that another one has to take the second. */
async function untilBetweenSteps(place: Workplace, name: string): Promise<void> {
  const countFirst = async (): Promise<number> =>
    (await linesOf(place)).filter((line) => line.startsWith('recorded ') && line.endsWith(` first old by ${name}`))
      .length
  const before = await countFirst()
  await until(`${name} records a first step`, LIMIT_MS, async () => ((await countFirst()) > before ? true : undefined))
}

/** The lines of steps. The file exists once a step has run. */
async function linesOf(place: Workplace): Promise<string[]> {
  return place.has('steps.log') ? (await readFile(place.path('steps.log'), 'utf8')).trim().split('\n') : []
}

/** The lines of runs of a step that was recorded before. */
function runsAfterRecord(lines: readonly string[]): string[] {
  const recorded = new Set<string>()
  return lines.filter((line) => {
    const [what, id, step] = line.split(' ')
    const key = `${id} ${step}`
    if (what === 'recorded') recorded.add(key)
    return what === 'run' && recorded.has(key)
  })
}
