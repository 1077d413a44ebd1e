/** How long one `load` or `commit` keeps a Valkey server busy at the limits of the kernel: all other clients wait as long. */
import { createFabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings, valkeyNodes } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { callTimes } from '../longest/call-times.ts'
import type { CallTime } from '../longest/call-times.ts'
import { indexedTags, limitCases } from '../longest/limit-cases.ts'
import type { LimitCase } from '../longest/limit-cases.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { capitalised } from '../metric-name.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { median } from '../statistics.ts'

const ROUNDS = 5
const kinds = ['load', 'commit'] as const

/** What the rounds of one case measured. */
interface CaseTimes {
  readonly name: string
  readonly rounds: (readonly CallTime[])[]
}

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  for (const limitCase of limitCases) await measure(store, limitCase)
  const cases = limitCases.map(({ name }): CaseTimes => ({ name, rounds: [] }))
  for (let number = 1; number <= roundCount; number++) {
    for (const [i, limitCase] of limitCases.entries()) {
      const times = await measure(store, limitCase)
      cases[i]?.rounds.push(times)
      say(`round ${number}, ${limitCase.name}: ${kinds.map((kind) => `${kind} ${longest(times, kind)} µs`).join(', ')}`)
    }
  }
  return {
    metrics: { ...totals(cases), ...(Object.assign({}, ...cases.map(metricsOf)) as Record<string, number>) },
    ratios: {},
    settings: { rounds: roundCount, partitions: 1, ...storeSettings[store], ...machine },
  }
}

async function measure(store: BenchStore, { prepare }: LimitCase): Promise<CallTime[]> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(`${place.url}?partitions=1`, { indexedTags })
  const [server] = valkeyNodes(place)
  if (server === undefined) throw new Error('There is no server.')
  return await callTimes(server, await prepare(fabric))
}

/** The longest of all rounds, and the longest of a usual round: a busy machine adds to the first. */
function totals(cases: readonly CaseTimes[]): Record<string, number> {
  return {
    longestMicros: Math.max(...cases.flatMap(({ rounds }) => rounds.map(longestOfAny))),
    usualLongestMicros: Math.max(...cases.map(({ rounds }) => Math.round(median(rounds.map(longestOfAny))))),
  }
}

function metricsOf({ name, rounds }: CaseTimes): Record<string, number> {
  const metrics = kinds.flatMap((kind) => {
    const ofRounds = rounds.map((times) => longest(times, kind))
    const prefix = `${name}${capitalised(kind)}`
    return [
      [`${prefix}MaxMicros`, Math.max(...ofRounds)],
      [`${prefix}UsualMaxMicros`, Math.round(median(ofRounds))],
    ] as const
  })
  return Object.fromEntries(metrics)
}

/** Zero if there was no call of this kind, or none long enough to be noted. */
function longest(times: readonly CallTime[], kind: CallTime['kind']): number {
  return Math.max(0, ...times.filter((time) => time.kind === kind).map(({ micros }) => micros))
}

function longestOfAny(times: readonly CallTime[]): number {
  return Math.max(...kinds.map((kind) => longest(times, kind)))
}

export const longestCalls: Scenario = {
  summary: 'the longest load and commit on the server, for calls as large as the limits allow',
  run,
}
