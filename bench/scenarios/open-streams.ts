/** Keeps many event streams open at one server process, and measures its memory and how soon all of them get an event. */
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { freshStore, storeSettings } from '../bench-store.ts'
import { timed, withInFlight } from '../load.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { ServerDuties } from '../open-streams/server-process.ts'
import { Child } from '../processes/child.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { median, rounded } from '../statistics.ts'

const COUNT = 5_000
const OPENING_AT_ONCE = 50
const EVENTS = 5
const MEBIBYTE = 1_048_576
const PATH = '/v1/events?types=execution_created'

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  await using place = await freshStore(store)
  await using server = new Child<ServerDuties>(new URL('../open-streams/server-process.ts', import.meta.url))
  const url = `${await server.ask('open', place.url)}${PATH}`
  const before = await server.ask('memory', null)
  const streams: IncomingMessage[] = []
  const opening = await timed(() =>
    withInFlight(count, OPENING_AT_ONCE, async () => void streams.push(await openStream(url))),
  )
  const after = await server.ask('memory', null)
  say(`${streams.length} streams are open`)
  const delivered: number[] = []
  for (let event = 0; event < (request.rounds ?? EVENTS); event++) {
    delivered.push(
      await timed(async () => {
        const all = Promise.all(streams.map(nextEvent))
        await server.ask('submit', null)
        await all
      }),
    )
  }
  const busy = await server.ask('memory', null)
  for (const stream of streams) stream.destroy()
  return {
    metrics: {
      openStreams: streams.length,
      opensPerSecond: Math.round((count * 1_000) / opening),
      memoryBeforeMiB: rounded(before / MEBIBYTE),
      memoryMiB: rounded(after / MEBIBYTE),
      memoryAfterEventsMiB: rounded(busy / MEBIBYTE),
      kibPerStream: rounded((after - before) / 1_024 / count),
      eventToAllMs: rounded(median(delivered)),
    },
    ratios: {},
    settings: { count, ...storeSettings[store], ...machine },
  }
}

function openStream(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`A stream was refused with ${response.statusCode ?? 0}.`))
      response.on('error', () => undefined)
      response.on('data', () => undefined)
      resolve(response)
    })
    request.on('error', reject)
  })
}

/** Resolves when an event arrives. Heartbeats are comments. */
function nextEvent(stream: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const take = (part: Buffer) => {
      if (!part.includes('data:')) return
      stream.off('data', take)
      resolve()
    }
    stream.on('data', take)
  })
}

export const openStreams: Scenario = {
  summary: 'opens event streams at one server process, and sends each event to all of them',
  run,
}
