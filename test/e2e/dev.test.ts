import { mkdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'
import type { Ended, Running, Workplace } from './workplace.ts'

const HANDLERS = `
import { PermanentError, task } from 'flowfabric'
import type { TaskContext } from 'flowfabric'

export const greet = task<{ name: string }, string>('greet').handle(({ name }) => \`Hello, \${name}\`)

export const refuse = task('refuse').handle(() => {
  throw new PermanentError('this can never work')
})

/** Runs until it is aborted. */
export const endless = task('endless').handle(async (_input, context: TaskContext) => {
  await context.progress(50, 'half way')
  await new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)))
})

/** Runs until a file appears. */
import { existsSync } from 'node:fs'
export const patient = task<string, string>('patient').handle(async (file) => {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20))
  return 'seen'
})

// A timer that the module leaves running.
setInterval(() => undefined, 1_000)
`

async function devWith(place: Workplace, ...args: string[]): Promise<Running> {
  await place.install()
  await place.write('handlers.ts', HANDLERS)
  const dev = place.start(['dev', 'handlers.ts', ...args])
  await dev.prints(/Events follow/)
  return dev
}

async function untilActive(place: Workplace, dev: Running, key: string): Promise<string> {
  const { id } = await place.json<{ id: string }>('show', key)
  await dev.prints(new RegExp(`attempt_started +${id}`))
  return id
}

describe('dev', () => {
  test('runs executions that other processes submit, cancel, inspect and replay', async () => {
    const place = await workplace()
    const dev = await devWith(place)
    await dev.prints(/greet/)

    const greeted = await place.run(['submit', 'greet', '{"name":"Ada"}', '--wait'])
    expect(greeted).toMatchObject({ code: 0, stdout: '"Hello, Ada"\n' })
    expect(greeted.stderr).toContain('Waiting for its end')

    const refused = await place.run(['submit', 'refuse', '--id', 'refused', '--wait', '--json'])
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(errorIn(refused)).toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('this can never work') as unknown,
    })
    const shown = await place.run(['show', 'refused'])
    expect(shown.stdout).toMatch(/1 +initial +failed .*this can never work/)
    expect(shown.stdout).toMatch(/last error\n +PermanentError: this can never work\n +at /)

    await place.run(['submit', 'endless', '--id', 'endless'])
    const endless = await untilActive(place, dev, 'endless')
    await dev.prints(new RegExp(`progress_updated +${endless}`))
    expect((await place.run(['why', 'endless'])).stdout).toContain('It is running: attempt 1')
    expect((await place.run(['show', 'endless'])).stdout).toMatch(/progress +50% half way/)
    expect(await place.json('cancel', 'endless', '--reason', 'enough')).toMatchObject({
      kind: 'cancel_requested',
      forceAt: expect.any(Number) as unknown,
    })
    await dev.prints(new RegExp(`execution_ended +${endless} .*outcome=cancelled`))
    expect(await place.json('show', 'endless')).toMatchObject({ state: 'cancelled', reason: 'enough' })

    expect((await place.run(['replay', 'refused', '--reason', 'once more'])).code).toBe(0)
    const { id } = await place.json<{ id: string }>('show', 'refused')
    await dev.prints(new RegExp(`(execution_ended +${id}[^]*){2}`))
    expect(await place.json('show', 'refused')).toMatchObject({
      state: 'failed',
      replayCount: 1,
      attempts: [
        { number: 1, outcome: 'failed' },
        { number: 2, kind: 'replay', outcome: 'failed' },
      ],
    })

    const joined = await place.json('submit', 'greet', '{"name":"Bob"}', '--wait')
    expect(joined).toMatchObject({ kind: 'created', state: 'completed', result: 'Hello, Bob' })
    expect(await dev.endBy('SIGINT')).toMatchObject({ code: 0 })
  })

  test('a running execution that is cancelled with --force ends even if its worker ignores the cancel', async () => {
    const place = await workplace()
    const dev = await devWith(place)
    await place.run(['submit', 'patient', JSON.stringify(place.path('never')), '--id', 'deaf'])
    await untilActive(place, dev, 'deaf')

    expect(await place.json('cancel', 'deaf', '--force')).toMatchObject({ kind: 'cancelled' })

    expect(await place.json('show', 'deaf')).toMatchObject({ state: 'cancelled', by: 'cli' })
    await place.write('never', '')
    expect(await dev.endBy('SIGTERM')).toMatchObject({ code: 0 })
    expect(await place.json('show', 'deaf')).toMatchObject({ state: 'cancelled' })
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('%s lets running handlers finish and exits with 0', async (signal) => {
    const place = await workplace()
    const dev = await devWith(place)
    await place.run(['submit', 'patient', JSON.stringify(place.path('go')), '--id', 'patient'])
    await untilActive(place, dev, 'patient')

    dev.kill(signal)
    // A draining worker claims no new work.
    await place.run(['submit', 'greet', '{"name":"Ada"}', '--id', 'late'])
    await place.write('go', '')
    const ended = await dev.end()

    expect(ended.code).toBe(0)
    expect(ended.stderr).toContain('finished=1 released=0 abandoned=0')
    expect(await place.json('show', 'patient')).toMatchObject({ state: 'completed' })
    expect(await place.json('show', 'late')).toMatchObject({ state: 'waiting' })
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('a second %s releases running executions and exits with %i', async (signal, code) => {
    const place = await workplace()
    const dev = await devWith(place)
    await place.run(['submit', 'endless', '--id', 'endless'])
    const id = await untilActive(place, dev, 'endless')

    dev.kill(signal)
    await dev.prints(/Finishing/)
    const ended = await dev.endBy(signal)

    expect(ended.code).toBe(code)
    expect(ended.stderr).toContain('finished=0 released=1 abandoned=0')
    expect(await place.json('show', id)).toMatchObject({ state: 'waiting', failureCount: 0 })
  })

  test('prints one object a line with --json: started, events, stopped', async () => {
    const place = await workplace()
    await place.install()
    await place.write('handlers.ts', HANDLERS)
    const dev = place.start(['dev', 'handlers.ts', '--json', '--concurrency', '2'])
    await dev.prints(/"started"/)
    await place.run(['submit', 'greet', '{"name":"Ada"}', '--wait'])
    await dev.prints(/"execution_ended"/)

    const lines = jsonLines(await dev.endBy('SIGTERM'))

    expect(lines[0]).toMatchObject({ kind: 'started', tasks: ['endless', 'greet', 'patient', 'refuse'] })
    expect(lines.slice(1, -1).every((line) => line.kind === 'event')).toBe(true)
    expect(lines.at(-1)).toMatchObject({ kind: 'stopped', abandoned: 0 })
  })

  test('without a handlers file keeps delays and shows events, also on a store in memory', async () => {
    const place = await workplace()
    const dev = place.start(['dev', '--store', 'memory:'])
    await dev.prints(/waits for a worker elsewhere[^]*Events follow/)
    expect(await dev.endBy('SIGINT')).toMatchObject({ code: 0 })
  })

  test('serves executions that need what it is capable of, and why, show and list name the needs of others', async () => {
    const place = await workplace()
    await devWith(place, '--capability', 'gpu', '--capability', 'region:eu')
    const submit = (...args: string[]) => place.run(['submit', 'greet', '{"name":"Ada"}', ...args])
    await submit('--id', 'stuck', '--needs', 'gpu', '--needs', 'tpu')

    expect((await submit('--needs', 'region:eu', '--needs', 'gpu', '--wait')).stdout).toBe('"Hello, Ada"\n')
    expect((await place.run(['why', 'stuck'])).stdout).toContain(
      'It needs gpu, tpu: only workers with these capabilities',
    )
    expect((await place.run(['show', 'stuck'])).stdout).toMatch(/needs +gpu tpu\n/)
    expect((await place.run(['list', '--state', 'waiting'])).stdout).toMatch(/KEY +NEEDS\n.*stuck +gpu tpu\n/)
    expect(await submit('--needs', 'a b')).toMatchObject({ code: 2 })
  })

  test('serves the given lanes', async () => {
    const place = await workplace()
    await devWith(place, '--lane', 'slow')
    const greeted = await place.run(['submit', 'greet', '{"name":"Ada"}', '--lane', 'slow', '--wait'])
    expect(greeted.stdout).toBe('"Hello, Ada"\n')
  })

  test('an interrupted submit --wait does not affect the execution and exits with 130', async () => {
    const place = await workplace()
    const submit = place.start(['submit', 'greet', '{}', '--id', 'a', '--wait'])
    await submit.prints(/Waiting for its end/)

    const ended = await submit.endBy('SIGINT')

    expect(ended).toMatchObject({ code: 130, stdout: '' })
    expect(ended.stderr).toContain('flowfabric show')
    expect(await place.json('show', 'a')).toMatchObject({ state: 'waiting' })
  })

  test.each([
    ['does not exist', 'nowhere.ts', /nowhere.ts/],
    ['exports no handler', 'empty.mjs', /exports no handler/],
    ['cannot be parsed', 'broken.mjs', /broken.mjs cannot be loaded: SyntaxError: .*broken.mjs:1:14: \S/],
    ['fails while it loads', 'failing.mjs', /Error: no database \(at .*failing.mjs:1:7\)/],
  ])('a handlers file that %s is refused with 2', async (_, file, named) => {
    const place = await workplace()
    await place.write('empty.mjs', 'export const limit = 3')
    await place.write('broken.mjs', 'export const = 3')
    await place.write('failing.mjs', `throw new Error('no database')`)

    const refused = await place.run(['dev', file, '--no-watch', '--json'])

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(errorIn(refused).message).toMatch(named)
    expect(place.has('flowfabric.db')).toBe(false)
  })

  test('TypeScript is refused with advice where Node cannot load it', async () => {
    const place = await workplace()
    await place.write('handlers.ts', HANDLERS)
    await place.write('old-node.mjs', `import module from 'node:module'\nmodule.registerHooks = undefined\n`)

    const refused = await place.run(['dev', 'handlers.ts', '--json'], {
      nodeOptions: ['--no-strip-types', '--import', './old-node.mjs'],
    })

    expect(refused.code).toBe(2)
    expect(errorIn(refused).message).toContain('handlers.ts is TypeScript, which needs Node 22.15')
  })

  test('a handlers file that does not exist ends the command although it watches', async () => {
    const place = await workplace()
    expect(await place.run(['dev', 'nowhere.ts'])).toMatchObject({ code: 2 })
  })
})

describe('dev with a NodeNext project', () => {
  test('loads .js endings, enums, path aliases, mapped imports and types that are imported as values', async () => {
    const place = await nodeNextProject()
    // The loader does not depend on the types that Node itself strips.
    const dev = place.start(['dev', 'src/handlers.ts'], { nodeOptions: ['--no-strip-types'] })
    await dev.prints(/Events follow/)

    expect(await place.json('submit', 'paint', '{"name":"Ada"}', '--wait')).toMatchObject({
      result: { text: 'Ada: RED', mapped: 'mapped', old: 'commonjs', label: 'Paint' },
    })
    await place.run(['submit', 'fail', '--id', 'fail', '--wait'])
    // The stack has the lines of the source, not of the transformed code.
    expect((await place.run(['show', 'fail'])).stdout).toMatch(/PermanentError: no paint\n +at .*handlers\.ts:21:9/)
    expect(await dev.endBy('SIGINT')).toMatchObject({ code: 0 })
  })

  test('restarts on a change, prints where a syntax error is, and continues when it is corrected', async () => {
    const place = await nodeNextProject()
    const dev = place.start(['dev', 'src/handlers.ts'])
    await dev.prints(/Events follow/)

    await place.write('src/lib/colour.ts', 'export enum Colour { Red = "CRIMSON" }\n')
    await dev.prints(/src\/lib\/colour\.ts has changed: restarting[^]*Events follow/)
    expect(await place.json('submit', 'paint', '{"name":"Ada"}', '--wait')).toMatchObject({
      result: { text: 'Ada: CRIMSON' },
    })

    await place.write('src/lib/colour.ts', '\nexport const = 3\n')
    await dev.prints(/cannot be loaded: SyntaxError: \S+src\/lib\/colour\.ts:2:14: \S[^]*Waiting for a change/)

    await place.write('src/lib/colour.ts', "import { red } from './red.js'\nexport const Colour = { Red: red }\n")
    await dev.prints(/cannot be loaded: Error: Cannot find module[^]*Waiting for a change/)

    await place.write('src/lib/red.ts', "export const red = 'ROSE'\n")
    await dev.prints(/(Events follow[^]*){3}/)
    expect(await place.json('submit', 'paint', '{"name":"Ada"}', '--wait')).toMatchObject({
      result: { text: 'Ada: ROSE' },
    })
    expect(await dev.endBy('SIGTERM')).toMatchObject({ code: 0 })
  })

  test('a restart lets a running handler finish, and claims nothing before the new version runs', async () => {
    const place = await workplace()
    const dev = await devWith(place, '--concurrency', '1')
    await place.run(['submit', 'patient', JSON.stringify(place.path('go')), '--id', 'patient'])
    await untilActive(place, dev, 'patient')

    await place.write('handlers.ts', HANDLERS.replace('Hello', 'Goodbye'))
    await dev.prints(/has changed: restarting[^]*Finishing/)
    const greeting = place.run(['submit', 'greet', '{"name":"Ada"}', '--wait'])
    await place.write('go', '')

    expect((await greeting).stdout).toBe('"Goodbye, Ada"\n')
    expect(dev.stderr).toContain('finished=1 released=0 abandoned=0')
    expect(await place.json('show', 'patient')).toMatchObject({ state: 'completed', attempts: [{ number: 1 }] })
  })

  test('a restart releases a handler that does not finish, and the new version runs it again', async () => {
    const place = await workplace()
    const dev = await devWith(place)
    await place.run(['submit', 'endless', '--id', 'endless'])
    await untilActive(place, dev, 'endless')

    await place.write(
      'handlers.ts',
      `import { task } from 'flowfabric'\nexport const endless = task('endless').handle(() => 'ended')\n`,
    )

    await dev.prints(/finished=0 released=1 abandoned=0[^]*Events follow/)
    await dev.prints(/execution_ended .*outcome=completed/)
    expect(await place.json('show', 'endless')).toMatchObject({ state: 'completed', failureCount: 0 })
  })

  test('the process of the handlers ends when the process that watches is killed', async () => {
    const place = await workplace()
    const dev = await devWith(place)
    // The output stays open until both have ended.
    const ended = await dev.endBy('SIGKILL')
    expect(ended.stderr).toContain('Stopped.')
  })

  test('ctrl-c ends a command that waits for a change', async () => {
    const place = await workplace()
    await place.write('broken.mjs', 'export const = 3')
    const dev = place.start(['dev', 'broken.mjs'])
    await dev.prints(/Waiting for a change/)
    expect(await dev.endBy('SIGINT')).toMatchObject({ code: 0 })
  })
})

/** A project as TypeScript compiles it with NodeNext. */
async function nodeNextProject(): Promise<Workplace> {
  const place = await workplace()
  await place.install()
  await mkdir(place.path('src/lib'), { recursive: true })
  await mkdir(place.path('node_modules/base-config'))
  await place.write('node_modules/base-config/tsconfig.json', '{ "compilerOptions": { "strict": true } }')
  await place.write('package.json', '{ "type": "module", "imports": { "#mapped/*": "./src/lib/*" } }')
  await place.write(
    'tsconfig.base.json',
    `{
      /* Shared. */
      "extends": "base-config",
      "compilerOptions": { "module": "NodeNext", "paths": { "@lib/*": ["./types/*", "./src/lib/*"], }, },
    }`,
  )
  await place.write('tsconfig.json', '{ "extends": ["./tsconfig.base"], "compilerOptions": { "noEmit": true } } // end')
  await place.write('src/lib/colour.ts', 'export enum Colour { Red = "RED" }\n')
  await place.write('src/lib/mapped.ts', "export const mapped: string = 'mapped'\n")
  await place.write('src/lib/old.cts', "const old: string = 'commonjs'\nmodule.exports = { old }\n")
  await place.write('src/types.ts', 'export interface Person { name: string }\n')
  await place.write('src/handlers.ts', NODE_NEXT_HANDLERS)
  return place
}

const NODE_NEXT_HANDLERS = `import { PermanentError, task, TaskContext } from 'flowfabric'
import { Colour } from '@lib/colour.js'
import { mapped } from '#mapped/mapped.js'
import old from './lib/old.cjs'
import { Person } from './types.js'

namespace Labels {
  export const paint = 'Paint'
}

class Painter {
  constructor(private readonly person: Person) {}
  text(colour: Colour): string {
    return this.person.name + ': ' + colour
  }
}

export const fail = task('fail').handle((_input: unknown, _context: TaskContext) => {
  interface Nothing {}
  const nothing: Nothing = {}
  throw new PermanentError('no paint', { cause: nothing })
})

export const paint = task<Person, object>('paint').handle((person) => ({
  text: new Painter(person).text(Colour.Red),
  mapped,
  old: old.old,
  label: Labels.paint,
}))
`

function jsonLines({ stdout }: Ended): { readonly kind: string }[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string })
}
