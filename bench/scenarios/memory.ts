/** What one waiting, active and ended execution costs in memory, beside a job of a peer with the same payload. */
import { storeSettings } from '../bench-store.ts'
import { bullmqPopulator } from '../memory/bullmq.ts'
import { flowfabricPopulator } from '../memory/flowfabric.ts'
import type { Populator } from '../memory/population.ts'
import { settledMemory } from '../memory/server-memory.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { capitalised } from '../metric-name.ts'
import { rounded } from '../statistics.ts'
import { startValkey } from '../valkey-server.ts'
import { PAYLOAD_BYTES } from '../workload.ts'

const COUNT = 20_000
/** Brought through all states first, so that what exists once is there before anything is counted. */
const BASE_COUNT = 100

const states = ['waiting', 'active', 'ended'] as const
type State = (typeof states)[number]

interface StateMemory {
  /** For one piece of work, the event log included as each system keeps it. */
  readonly bytes: number
  readonly bytesWithoutEvents: number
  /** Events that are kept in all. */
  readonly eventCount: number
}

type Memory = Readonly<Record<State, StateMemory>>

async function run({ store, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const ours = await measure(flowfabricPopulator, count, say)
  const theirs = await measure(bullmqPopulator, count, say)
  return {
    metrics: { ...metricsOf(flowfabricPopulator.name, ours), ...metricsOf(bullmqPopulator.name, theirs) },
    ratios: ratiosTo(bullmqPopulator.name, ours, theirs),
    settings: { count, payloadBytes: PAYLOAD_BYTES, ...storeSettings[store], ...machine },
  }
}

async function measure({ name, open }: Populator, count: number, say: (line: string) => void): Promise<Memory> {
  await using server = await startValkey()
  await using population = await open(server)
  const { create, claim, complete } = population
  for (const step of [create, claim, complete]) await step(BASE_COUNT)

  const base = await settledMemory(server)
  const measureState = async (state: State, step: (count: number) => Promise<void>): Promise<StateMemory> => {
    await step(count)
    const now = await settledMemory(server)
    const grown = now.bytes - base.bytes
    const events = now.eventBytes - base.eventBytes
    say(`${name}: ${Math.round(grown / count)} bytes ${state}, ${now.eventCount} events kept`)
    return {
      bytes: grown / count,
      bytesWithoutEvents: (grown - events) / count,
      eventCount: now.eventCount,
    }
  }
  return {
    waiting: await measureState('waiting', create),
    active: await measureState('active', claim),
    ended: await measureState('ended', complete),
  }
}

function metricsOf(name: string, memory: Memory): Record<string, number> {
  const metrics: Record<string, number> = {}
  for (const state of states) {
    const prefix = `${name}${capitalised(state)}`
    metrics[`${prefix}Bytes`] = Math.round(memory[state].bytes)
    metrics[`${prefix}BytesWithoutEvents`] = Math.round(memory[state].bytesWithoutEvents)
    metrics[`${prefix}EventCount`] = memory[state].eventCount
  }
  return metrics
}

/** Below one, FlowFabric needs less. The ratios over all states compare one piece of work in each of them. */
function ratiosTo(name: string, ours: Memory, theirs: Memory): Record<string, number> {
  const ratios: Record<string, number> = {}
  for (const [suffix, value] of [
    ['', (memory: StateMemory) => memory.bytes],
    ['WithoutEvents', (memory: StateMemory) => memory.bytesWithoutEvents],
  ] as const) {
    const sum = (memory: Memory) => states.reduce((total, state) => total + value(memory[state]), 0)
    ratios[`${name}${suffix}`] = rounded(sum(ours) / sum(theirs))
    for (const state of states) {
      ratios[`${name}${capitalised(state)}${suffix}`] = rounded(value(ours[state]) / value(theirs[state]))
    }
  }
  return ratios
}

export const memory: Scenario = {
  summary: `bytes that an execution with a payload of ${PAYLOAD_BYTES} costs the server in each state`,
  run,
}
