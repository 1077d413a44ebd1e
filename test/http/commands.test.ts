/** Every command with the address of a server as its store: it does its work there, or refuses the address. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { commandsOf } from '../../src/cli/command-list.fixture.ts'
import { createProgram } from '../../src/cli/program.ts'
import { Shell } from '../../src/cli/session/shell.ts'
import { KeyRing, changeKeyFile } from '../../src/client/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { COMPILE_CACHE } from '../compile-cache.ts'
import { until } from '../servers/until.ts'
import { commandCases } from './command-cases.ts'
import type { CommandPlace } from './command-cases.ts'
import { startServed, stopServed } from './served.ts'
import type { Served } from './served.ts'
import { work } from './story.ts'

const LIMIT_MS = 60_000
const SOURCES = new URL('../../src/index.ts', import.meta.url).href
const COMMAND = new URL('../../src/cli/main.ts', import.meta.url).pathname
const names = commandsOf(createProgram(new Shell(systemRuntime()), true)).map(({ name }) => name)

let server: Served
let place: CommandPlace
beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-commands-'))
  const file = (name: string) => path.join(folder, name)
  const receiver = createServer((_request, response) => response.end())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await writeFile(file('settings.json'), JSON.stringify({ keysFile: file('keys') }))
  await writeFile(file('tasks.js'), `import { task } from '${SOURCES}'\nexport const greet = task('greet')\n`)
  await changeKeyFile(file('keys'), systemRuntime(), () => KeyRing.begin(Date.now()))
  server = await startServed({ fabric: { allNamespaces: true, keys: { file: file('keys') } } })
  server.fabric.engine({ webhooks: { allowPrivate: true } })
  await work(server.fabric)
  const answer = async (name: string, ...args: readonly string[]) =>
    JSON.parse(await run(name, args)) as Readonly<Record<string, string>>
  place = { fabric: server.fabric, hookUrl, file, answer }
  return async () => {
    await stopServed(server)
    receiver.close()
    await rm(folder, { recursive: true })
  }
})

/** The command line of a command whose store is the server. */
function commandLine(name: string, args: readonly string[]): string[] {
  const options = ['--store', server.url, '--config', place.file('settings.json'), '--json']
  return [...name.split(' '), ...args, ...options]
}

/** Runs a command and returns what it prints. One that is `endless` gets a signal once its output matches. */
async function run(name: string, args: readonly string[], endless?: RegExp): Promise<string> {
  let printed = ''
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  const before = process.listeners('SIGTERM')
  const program = createProgram(new Shell(systemRuntime()), true)
  try {
    const ended = program.parseAsync(commandLine(name, args), { from: 'user' })
    if (endless === undefined) await ended
    else await Promise.all([ended, interrupt(before, () => endless.test(printed))])
  } finally {
    stdout.mockRestore()
  }
  return printed
}

/** Calls what the command has added to the listeners of a signal. The signal itself would also reach the test runner. */
async function interrupt(before: readonly ((signal: 'SIGTERM') => void)[], isDue: () => boolean): Promise<void> {
  const added = await until('the command waits for a signal', LIMIT_MS, async () => {
    const listeners = process.listeners('SIGTERM').filter((listener) => !before.includes(listener))
    return isDue() && listeners.length > 0 ? listeners : undefined
  })
  for (const listener of added) listener('SIGTERM')
}

/** Runs a command in a process of its own, and closes its input once its output matches. */
async function runInProcess(name: string, args: readonly string[], input: string, prints: RegExp): Promise<string> {
  const child = execFile(process.execPath, [COMMAND, ...commandLine(name, args)], {
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
  })
  let printed = ''
  child.stdout?.on('data', (text: string) => (printed += text))
  child.stdin?.write(input)
  try {
    await until('the command has answered', LIMIT_MS, async () => prints.test(printed) || undefined)
  } finally {
    child.stdin?.end()
  }
  await once(child, 'close')
  return printed
}

test('every command has a case here', () => {
  expect(Object.keys(commandCases).sort()).toEqual(names.sort())
})

test('the page lists the commands that need the store itself', async () => {
  const page = await readFile(new URL('../../docs/remote.md', import.meta.url), 'utf8')
  const [, listed = ''] = /^- It opens.* store\. (.*) need the location of the store\.$/m.exec(page) ?? []

  const refused = names.filter((name) => 'isRefused' in Object(commandCases[name]))
  expect([...listed.matchAll(/`([^`]+)`/g)].map(([, name]) => name).sort()).toEqual(refused.sort())
})

test.each(names)('%s', async (name) => {
  const given = commandCases[name]!
  if (given === 'group') {
    await expect(run(name, [])).rejects.toMatchObject({ code: 'commander.help' })
    return
  }
  const args = typeof given.args === 'function' ? await given.args(place) : given.args
  if ('isRefused' in given) {
    await expect(run(name, args)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/, not (with )?the address of a server/) as unknown,
    })
    return
  }
  const { input, isEndless, prints } = given
  const printed = input === undefined ? run(name, args, isEndless && prints) : runInProcess(name, args, input, prints)
  expect(await printed).toMatch(prints)
})
