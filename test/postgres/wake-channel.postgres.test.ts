import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { readyIndex } from '../../src/kernel/index.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import type { LogFields, Log, VirtualRuntime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { Connection } from '../../src/stores/postgres/wire/connection.ts'
import type { Statement } from '../../src/stores/postgres/wire/round-trip.ts'
import { channelOf, stagedPayload } from '../../src/stores/postgres/notify/notify-payload.ts'
import { NOT_RECEIVING, WakeChannel } from '../../src/stores/postgres/notify/wake-channel.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Wake } from '../../src/stores/store.ts'
import { startPgbouncer } from '../servers/pgbouncer.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { serverLocations } from '../servers/server-locations.ts'
import { until } from '../servers/until.ts'

const PARTITION_COUNT = 4
const PARTITIONS = Array.from({ length: PARTITION_COUNT }, (_, number) => executionPartition(number))
const LIMIT_MS = 30_000
/** By how much the clock of a process is moved per step of a wait: no faster than the server's. */
const STEP_MS = 20
/** From one echo to the next, and how long one is waited for. */
const ECHO_EVERY_MS = 30_000
const ECHO_WAIT_MS = 5_000

const LOOK_EVERYWHERE: readonly Wake[] = Array.from({ length: PARTITION_COUNT }, (_, number) => ({
  partition: executionPartition(number),
  hasEvents: true,
}))

async function connect(location: string): Promise<Connection> {
  const parsed = parseLocation(location)
  if (parsed.kind !== 'postgres') throw new Error('This is not the location of a PostgreSQL server.')
  const connection = await Connection.open(parsed, {})
  onTestFinished(() => connection.close())
  return connection
}

/** A channel of this test alone. */
function newChannel(): string {
  return channelOf(`test_${randomUUID().replaceAll('-', '')}`)
}

/** The wake channel of one process. Its clock is moved by hand; the server has its own. */
class Process {
  readonly runtime: VirtualRuntime = virtualRuntime()
  readonly wakes: Wake[] = []
  readonly staged: number[] = []
  readonly warnings: string[] = []
  /** The connections that have listened, in their order. */
  readonly listeners: Connection[] = []
  readonly channel: WakeChannel
  /** The number of notifications that it tried to send. */
  saidCount = 0
  isMute = false
  /** The connection that it speaks on. */
  speaker: Connection
  readonly #name: string

  constructor(options: { readonly location: string; readonly name: string; readonly speaker: Connection }) {
    const { location, name, speaker } = options
    this.speaker = speaker
    this.#name = name
    const say = () => undefined
    const warn = (_fields: LogFields, message: string) => void this.warnings.push(message)
    const log: Log = { debug: say, info: say, warn, error: warn }
    this.channel = new WakeChannel({
      openListener: async () => {
        const listener = await connect(location)
        this.listeners.push(listener)
        return listener
      },
      send: async (statement: Statement) => {
        try {
          if (!this.isMute) await this.speaker.send([statement])
        } finally {
          this.saidCount += 1
        }
      },
      channel: name,
      partitions: PARTITIONS,
      runtime: this.runtime,
      log,
      sender: randomUUID(),
      onWake: (wake) => void this.wakes.push(wake),
      onStaged: (number) => void this.staged.push(number),
    })
    onTestFinished(() => this.channel.close())
  }

  /** One that listens to a server, and was woken for all partitions. */
  static async listening(location: string, name: string): Promise<Process> {
    const process = new Process({ location, name, speaker: await connect(location) })
    process.channel.listen()
    await process.until('its echo arrives', () => process.channel.isReceiving === 'yes')
    expect(process.takeWakes()).toEqual(LOOK_EVERYWHERE)
    return process
  }

  /** Waits until something holds, while the clock of the process moves in steps. */
  async until(waitingFor: string, holds: () => boolean, stepMs = STEP_MS): Promise<void> {
    await until(waitingFor, LIMIT_MS, async () => {
      await this.runtime.advance(stepMs)
      return holds() ? true : undefined
    })
  }

  /** Returns the wake-ups since the last call. */
  takeWakes(): Wake[] {
    return this.wakes.splice(0)
  }

  async nextWakes(count: number): Promise<Wake[]> {
    await this.until(`${count} wake-ups`, () => this.wakes.length >= count)
    return this.takeWakes()
  }

  /** Moves on to where the next echo was sent. */
  async #sendEcho(): Promise<void> {
    const { saidCount } = this
    await this.until('the next echo is sent', () => this.saidCount > saidCount, ECHO_EVERY_MS / 10)
  }

  /** Moves on to where the next echo, which does not come back, was waited for. */
  async missEcho(): Promise<void> {
    await this.#sendEcho()
    await this.runtime.advance(ECHO_WAIT_MS)
  }

  /** Moves the clock past the next echo and its limit. */
  async hearEcho(): Promise<void> {
    await this.#sendEcho()
    // It arrives before later notifications.
    const stagedCount = this.staged.length
    await say(this.speaker, this.#name, stagedPayload(0))
    // The clock stands still meanwhile, however long the server takes.
    await this.until('the notification after the echo', () => this.staged.length > stagedCount, 0)
    await this.runtime.advance(ECHO_WAIT_MS)
  }
}

function wakeOf(number: number, changes: Partial<Wake> = {}): Wake {
  return { partition: executionPartition(number), ready: [], hasEvents: true, holdersOf: [], ...changes }
}

/** Which connections of the server listen to a channel. */
async function listenersOf(connection: Connection, name: string): Promise<number[]> {
  const rows = await connection.query('select pid from pg_stat_activity where query = $1 order by pid', [
    `listen "${name}"`,
  ])
  return rows.map(({ pid }) => Number(pid))
}

async function untilNobodyListens(connection: Connection, name: string): Promise<void> {
  await until('no connection listens any more', LIMIT_MS, async () =>
    (await listenersOf(connection, name)).length === 0 ? true : undefined,
  )
}

function say(connection: Connection, name: string, text: string): Promise<unknown> {
  return connection.query('select pg_notify($1, $2)', [name, text])
}

describe.each(['postgres', 'postgresNewest'] as const)('on %s', (server) => {
  const location = serverLocations()?.[server] ?? ''

  test('announcements of a process wake the others, and not itself', async () => {
    const name = newChannel()
    const [speaker, first, second] = await Promise.all([1, 2, 3].map(() => Process.listening(location, name)))
    const wake = wakeOf(2, {
      ready: [readyIndex('default', 'greet')],
      dueAt: 1_700_000_000_000,
      holdersOf: ['2-01890a5d-ac96-774b-bcce-b302099a8057' as ExecutionId],
    })

    speaker!.channel.announce(wake)
    expect(await first!.nextWakes(1)).toEqual([wake])
    expect(await second!.nextWakes(1)).toEqual([wake])

    // Notices come in the order in which they were sent, so the speaker has passed by its own.
    first!.channel.announce(wakeOf(0))
    expect(await speaker!.nextWakes(1)).toEqual([wakeOf(0)])
  })

  test("schemas do not receive each other's wake-ups", async () => {
    const speaker = await Process.listening(location, newChannel())
    const name = newChannel()
    const listener = await Process.listening(location, name)

    speaker.channel.announce(wakeOf(1))
    await speaker.runtime.advance(1)
    await say(await connect(location), name, stagedPayload(1))
    await listener.until('the notice that is meant for it', () => listener.staged.length > 0)

    expect(listener.takeWakes()).toEqual([])
  })

  test('a staged submit is announced to every process when its transaction commits, and never if it is rolled back', async () => {
    const name = newChannel()
    const [first, second] = await Promise.all([1, 2].map(() => Process.listening(location, name)))
    const caller = await connect(location)

    await caller.query('begin')
    await say(caller, name, stagedPayload(1))
    await caller.query('rollback')
    await caller.query('begin')
    await say(caller, name, stagedPayload(3))
    await caller.query('commit')
    await first!.until('the staged one', () => first!.staged.length > 0)
    await second!.until('the staged one', () => second!.staged.length > 0)

    expect([first!.staged, second!.staged]).toEqual([[3], [3]])
    expect([first!.takeWakes(), second!.takeWakes()]).toEqual([[], []])
  })

  test('announcements that follow each other closely go out together', async () => {
    const name = newChannel()
    const process = await Process.listening(location, name)
    const other = await connect(location)
    const notices: string[] = []
    other.onNotification(({ payload = '' }) => void notices.push(payload))
    await other.query(`listen "${name}"`)

    for (let ms = 0; ms < 100; ms++) {
      process.channel.announce(wakeOf(ms % PARTITION_COUNT, { ready: [`index-${ms % 7}`] }))
      await process.runtime.advance(1)
    }
    await process.channel.close()
    await say(other, name, 'the end')
    await until('all of them', LIMIT_MS, async () => (notices.at(-1) === 'the end' ? true : undefined))

    // One at once, one after every 20 ms, one at the end.
    expect(notices.length - 1).toBeGreaterThan(1)
    expect(notices.length - 1).toBeLessThanOrEqual(6)
  })

  test('an announcement that is too long for the server names the partitions', async () => {
    const name = newChannel()
    const [speaker, listener] = await Promise.all([1, 2].map(() => Process.listening(location, name)))
    const ready = Array.from({ length: 90 }, (_, i) => readyIndex('default', `task-${i}-${'x'.repeat(100)}`))

    speaker!.channel.announce(wakeOf(1, { ready, dueAt: 5 }))

    expect(await listener!.nextWakes(1)).toEqual([{ partition: executionPartition(1), dueAt: 5, hasEvents: true }])
  })

  test.each(['', 'not a wake-up notice', '{"kind":"louder"}'])(
    'a notice that cannot be read makes its listeners look everywhere: %j',
    async (text) => {
      const name = newChannel()
      const listener = await Process.listening(location, name)

      await say(await connect(location), name, text)

      expect(await listener.nextWakes(PARTITION_COUNT)).toEqual(LOOK_EVERYWHERE)
    },
  )

  test('a process whose connection was ended listens again and looks for what it has missed', async () => {
    const name = newChannel()
    const [speaker, listener] = await Promise.all([1, 2].map(() => Process.listening(location, name)))
    const other = await connect(location)
    const pids = await listenersOf(other, name)

    await other.query('select pg_terminate_backend(pid) from unnest($1::integer[]) as k (pid)', [pids])
    for (const process of [speaker!, listener!]) {
      expect(await process.nextWakes(PARTITION_COUNT)).toEqual(LOOK_EVERYWHERE)
    }
    speaker!.channel.announce(wakeOf(3))
    await speaker!.runtime.advance(ECHO_WAIT_MS)

    expect(await listener!.nextWakes(1)).toEqual([wakeOf(3)])
    expect([speaker!.warnings, listener!.warnings]).toEqual([[], []])
  })

  test('a silent connection is replaced when the next echo does not arrive', async () => {
    const name = newChannel()
    const process = await Process.listening(location, name)
    for (let i = 0; i < 3; i++) await process.hearEcho()
    expect(process.listeners).toHaveLength(1)

    await process.listeners[0]?.query('unlisten *')
    await process.missEcho()

    expect(await process.nextWakes(PARTITION_COUNT)).toEqual(LOOK_EVERYWHERE)
    expect(process.listeners.map(({ isLost }) => isLost)).toEqual([true, false])
    expect(process.warnings).toEqual([])
  })

  test('a process without echoes warns once, keeps trying, and wakes its listeners when they arrive again', async () => {
    const name = newChannel()
    const speaker = await connect(location)
    const process = new Process({ location, name, speaker })
    process.isMute = true
    process.channel.listen()
    expect(await process.nextWakes(PARTITION_COUNT)).toEqual(LOOK_EVERYWHERE)
    expect([process.channel.isReceiving, process.warnings]).toEqual(['not_tried', []])

    for (let i = 0; i < 5; i++) await process.missEcho()
    expect([process.channel.isReceiving, process.warnings]).toEqual(['no', [NOT_RECEIVING]])

    process.isMute = false
    await process.hearEcho()
    expect(await process.nextWakes(PARTITION_COUNT)).toEqual(LOOK_EVERYWHERE)
    expect([process.channel.isReceiving, process.warnings.length, process.listeners.length]).toEqual(['yes', 1, 1])
  })

  test('an echo that cannot be sent is no reason to give up a connection', async () => {
    const name = newChannel()
    const speaker = await connect(location)
    const process = new Process({ location, name, speaker })
    process.channel.listen()
    await process.until('its echo arrives', () => process.channel.isReceiving === 'yes')

    speaker.close()
    await process.missEcho()
    await process.missEcho()

    expect([process.channel.isReceiving, process.warnings, process.listeners.length]).toEqual(['yes', [], 1])
  })

  test('no connection is opened before the first listener, one for all of them, and none stays open', async () => {
    const name = newChannel()
    const other = await connect(location)
    const process = new Process({ location, name, speaker: other })
    process.channel.announce(wakeOf(0))
    await process.runtime.advance(100)
    expect([process.listeners.length, process.channel.isReceiving]).toEqual([0, 'not_tried'])

    for (let i = 0; i < 3; i++) process.channel.listen()
    await process.until('its echo arrives', () => process.channel.isReceiving === 'yes')
    expect(await listenersOf(other, name)).toHaveLength(1)

    await process.channel.close()
    process.channel.listen()
    await untilNobodyListens(other, name)
    await process.runtime.advance(2 * ECHO_EVERY_MS)
    expect([process.listeners.length, process.runtime.nextTimerAt()]).toEqual([1, undefined])
  })

  test('closing while the connection is being made leaves none open', async () => {
    const name = newChannel()
    const other = await connect(location)
    const process = new Process({ location, name, speaker: other })

    process.channel.listen()
    await process.channel.close()
    await process.until('the connection that was under way is closed', () => process.listeners[0]?.isLost === true)

    await untilNobodyListens(other, name)
    expect([process.takeWakes(), process.runtime.nextTimerAt()]).toEqual([[], undefined])
  })
})

test('a server that is away causes no warning of its own, and is listened to again once it is back', async () => {
  await using server = await startPostgres({ fsync: false })
  const name = newChannel()
  const process = await Process.listening(server.location, name)
  const { saidCount } = process

  await server.kill()
  await process.until('it has tried to reach the server', () => process.saidCount > saidCount + 3, ECHO_WAIT_MS / 10)
  await process.runtime.advance(ECHO_EVERY_MS)
  expect(process.warnings).toEqual([])

  await server.restart()
  process.speaker = await connect(server.location)
  await process.until('it listens again', () => process.wakes.length >= PARTITION_COUNT)
  expect(process.takeWakes().slice(0, PARTITION_COUNT)).toEqual(LOOK_EVERYWHERE)
  await process.hearEcho()
  expect([process.channel.isReceiving, process.warnings]).toEqual(['yes', []])
})

test('a connection that cannot be opened although the server responds causes one warning', async () => {
  await using server = await startPostgres({ fsync: false })
  await using other = await startPostgres({ fsync: false })
  const name = newChannel()
  const process = new Process({ location: other.location, name, speaker: await connect(server.location) })
  process.channel.listen()
  await process.nextWakes(PARTITION_COUNT)

  await other.kill()
  await process.until('it warns', () => process.warnings.length > 0, ECHO_WAIT_MS / 10)
  await process.runtime.advance(ECHO_EVERY_MS)

  expect(process.channel.isReceiving).toBe('no')
  expect(process.warnings).toEqual([expect.stringContaining('cannot be opened')])
})

test('behind a pooler that shares connections nothing arrives, and a location that leads to the server puts it right', async () => {
  await using server = await startPostgres({ fsync: false })
  await using pooler = await startPgbouncer(server)
  const name = newChannel()
  const speaker = await connect(`${pooler.location}?prepare=false`)
  const pooled = new Process({ location: pooler.location, name, speaker })
  const direct = new Process({ location: server.location, name, speaker })

  pooled.channel.listen()
  direct.channel.listen()
  await pooled.nextWakes(PARTITION_COUNT)
  await direct.until('its echo arrives', () => direct.channel.isReceiving === 'yes')
  await pooled.missEcho()

  expect([pooled.channel.isReceiving, pooled.warnings]).toEqual(['no', [NOT_RECEIVING]])
  direct.takeWakes()
  pooled.channel.announce(wakeOf(1))
  await pooled.runtime.advance(1)
  expect(await direct.nextWakes(1)).toEqual([wakeOf(1)])
})
