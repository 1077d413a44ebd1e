import { spawn } from 'node:child_process'
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PARTITION, problemsOf, submit } from '../store.fixture.ts'
import { backupFile } from './file/backup-file.ts'
import { fileWorld } from './sqlite.fixture.ts'
import type { FileWorld } from './sqlite.fixture.ts'

/** Processes take long to start on a busy machine. */
const PROCESSES_MS = 60_000

const PROGRAM = fileURLToPath(new URL('./writer-process.fixture.ts', import.meta.url))

interface WriterProcess {
  readonly child: ChildProcess
  /** Every id whose creation was acknowledged to the process, as far as it could print them. */
  readonly acknowledged: string[]
  readonly errors: string[]
  readonly ended: Promise<unknown>
}

let world: FileWorld
const running: WriterProcess[] = []

beforeEach(() => {
  world = fileWorld()
})

afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  await world.close()
})

function startWriter(...lifeCount: string[]): WriterProcess {
  return observe(spawn(process.execPath, [PROGRAM, world.file, ...lifeCount], { stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** A writer that can make no file larger than this: what a full disk looks like to it. */
function startConfinedWriter(largestFileBlocks: number): WriterProcess {
  const command = `ulimit -f ${largestFileBlocks} && exec "$0" "$@"`
  return observe(
    spawn('sh', ['-c', command, process.execPath, PROGRAM, world.file], { stdio: ['ignore', 'pipe', 'pipe'] }),
  )
}

function observe(child: ChildProcessByStdio<null, Readable, Readable>): WriterProcess {
  const acknowledged: string[] = []
  const errors: string[] = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    acknowledged.push(...lines)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  const writer = { child, acknowledged, errors, ended: once(child, 'close') }
  running.push(writer)
  return writer
}

async function untilAcknowledged(writer: WriterProcess, count: number): Promise<void> {
  while (writer.acknowledged.length < count) {
    if (writer.child.exitCode !== null) expect.fail(`the process ended: ${writer.errors.join('')}`)
    await once(writer.child.stdout!, 'data')
  }
}

test('several processes share a file, and none of them meets an error', { timeout: PROCESSES_MS }, async () => {
  const store = await world.open()
  const lifeCount = 300
  const writers = [startWriter(`${lifeCount}`), startWriter(`${lifeCount}`), startWriter(`${lifeCount}`)]
  const own = submitMany(50)

  await Promise.all([own, ...writers.map((writer) => writer.ended)])

  expect(writers.map((writer) => [writer.child.exitCode, writer.errors.join('')])).toEqual(writers.map(() => [0, '']))
  const dump = await store.dump(PARTITION)
  expect(problemsOf(dump)).toEqual([])
  const ids = new Set<string>(dump.records.map((record) => record.id))
  expect(writers.flatMap((writer) => writer.acknowledged).filter((id) => !ids.has(id))).toEqual([])
  const endedCount = dump.events.filter((event) => event.type === 'execution_ended').length
  expect(endedCount).toBeGreaterThanOrEqual(writers.length * lifeCount)

  async function submitMany(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await submit(store)
  }
})

test(
  'a process that is killed in the middle of its work loses nothing acknowledged and leaves the file whole',
  { timeout: PROCESSES_MS },
  async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < 3; round++) {
      const writer = startWriter()
      await untilAcknowledged(writer, 100 + round * 77)
      writer.child.kill('SIGKILL')
      await writer.ended
      acknowledged.push(...writer.acknowledged)
    }

    const store = await world.open()
    const dump = await store.dump(PARTITION)

    const ids = new Set<string>(dump.records.map((record) => record.id))
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
    expect(problemsOf(dump)).toEqual([])
    expect(world.connect().prepare('pragma integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
    expect((await store.readEvents(PARTITION, 0, 1)).lastSequence).toBe(dump.events.length)
  },
)

test('a backup beside writers is a whole store that has all that was acknowledged before it', async () => {
  const writer = startWriter()
  await untilAcknowledged(writer, 100)
  const before = [...writer.acknowledged]

  const copy = path.join(world.folder, 'copy.db')
  const { bytes } = await backupFile(world.runtime, world.file, copy)

  expect(bytes).toBe(statSync(copy).size)
  expect(writer.child.exitCode).toBeNull()
  const store = await world.open({ file: copy })
  const dump = await store.dump(PARTITION)
  const ids = new Set<string>(dump.records.map((record) => record.id))
  expect(before.filter((id) => !ids.has(id))).toEqual([])
  expect(problemsOf(dump)).toEqual([])
})

/** Collects the permissions of files with a name like this, until a byte is set. */
const WATCH = `
  const { readdirSync, statSync } = require('node:fs')
  const { parentPort, workerData: { folder, part, flag } } = require('node:worker_threads')
  const modes = new Set()
  parentPort.postMessage('started')
  while (Atomics.load(flag, 0) === 0) {
    for (const name of readdirSync(folder)) {
      const stats = name.includes(part) ? statSync(folder + '/' + name, { throwIfNoEntry: false }) : undefined
      if (stats !== undefined) modes.add(stats.mode & 0o777)
    }
  }
  parentPort.postMessage([...modes])
`

test('no other user can read a backup of a closed file while it is written', async () => {
  await world.open()
  chmodSync(world.file, 0o600)
  world.connect().exec('create table filler as select randomblob(20000000) as bytes')
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { folder: world.folder, part: '.partial', flag }
  const watcher = new Worker(WATCH, { eval: true, workerData })
  await once(watcher, 'message')
  await backupFile(world.runtime, world.file, path.join(world.folder, 'copy.db'))
  const reported = once(watcher, 'message')
  Atomics.store(flag, 0, 1)
  expect(await reported).toEqual([[0o600]])
})

test('a backup replaces no file, and a failed one leaves none', async () => {
  const copy = path.join(world.folder, 'copy.db')
  await world.open()
  writeFileSync(copy, 'of another program')

  await expect(backupFile(world.runtime, world.file, copy)).rejects.toThrow('exists')
  await expect(backupFile(world.runtime, world.file, path.join(world.folder, 'none', 'copy.db'))).rejects.toThrow(
    'folder',
  )
  await expect(backupFile(world.runtime, copy, path.join(world.folder, 'other.db'))).rejects.toThrow('not a SQLite')

  expect(readFileSync(copy, 'utf8')).toBe('of another program')
  expect(readdirSync(world.folder).filter((name) => name.includes('partial') || name === 'other.db')).toEqual([])
})

test('a full disk is reported as such, and everything acknowledged before is there', async () => {
  const writer = startConfinedWriter(1_500)
  await writer.ended

  expect([writer.child.exitCode, writer.errors.join('')]).toEqual([1, 'store_unavailable'])
  const store = await world.open()
  const dump = await store.dump(PARTITION)
  const ids = new Set<string>(dump.records.map((record) => record.id))
  expect(writer.acknowledged.length).toBeGreaterThan(0)
  expect(writer.acknowledged.filter((id) => !ids.has(id))).toEqual([])
  expect(problemsOf(dump)).toEqual([])
})
