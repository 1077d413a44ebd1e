/** What limits cost where they hold nothing back, how near a rate is to its limit, and what many keys cost. */
import { storeSettings } from '../bench-store.ts'
import { measureDrain, rateOf, rateOfStarts, uses } from '../limits/measure-limits.ts'
import type { Drain } from '../limits/measure-limits.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { rotated } from '../rotation.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { median, rounded } from '../statistics.ts'

const COUNT = 10_000
/** Keys of one limit, one for each execution. */
const KEYS = 100_000
const ROUNDS = 3
const WARM_UP_COUNT = 1_000
/** Starts that the binding rate admits in a second, and seconds for which it binds. */
const BINDING_PER_SECOND = 500
const BINDING_SECONDS = 10

const kinds = ['none', 'nonBinding', 'cap'] as const
type Kind = (typeof kinds)[number]

async function run({ store, say, options, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const keys = options.n ?? KEYS
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  for (const kind of kinds) await measureDrain(store, WARM_UP_COUNT, uses[kind])
  const rounds: Record<Kind, Drain>[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round: Partial<Record<Kind, Drain>> = {}
    for (const kind of rotated(kinds, number)) round[kind] = await measureDrain(store, count, uses[kind])
    rounds.push(round as Record<Kind, Drain>)
    say(`round ${number}: ${kinds.map((kind) => `${kind} ${Math.round(round[kind]?.perSecond ?? 0)}/s`).join(', ')}`)
  }
  say(`a rate of ${BINDING_PER_SECOND} per second for ${BINDING_SECONDS} s`)
  // The first window admits its starts at once; the others follow one window each.
  const binding = await measureDrain(store, BINDING_PER_SECOND * (BINDING_SECONDS + 1), rateOf(BINDING_PER_SECOND))
  say(`${keys} keys`)
  const oneKey = await measureDrain(store, keys, uses.nonBinding)
  const manyKeys = await measureDrain(store, keys, uses.keyPerExecution)
  say(`another limit beside ${keys} keys`)
  const besideKeys = await measureDrain(store, count, uses.cap, [], { count: keys, limits: uses.keyPerExecution })
  // Ended executions remain too, with or without keys.
  const besideOneKey = await measureDrain(store, count, uses.cap, [], { count: keys, limits: uses.nonBinding })

  const middle = (kind: Kind, valueOf: (drain: Drain) => number) => median(rounds.map((round) => valueOf(round[kind])))
  const bindingPerSecond = rateOfStarts(binding.startedAt, BINDING_PER_SECOND)
  return {
    metrics: {
      unlimitedPerSecond: Math.round(middle('none', ({ perSecond }) => perSecond)),
      nonBindingPerSecond: Math.round(middle('nonBinding', ({ perSecond }) => perSecond)),
      bindingPerSecond: rounded(bindingPerSecond),
      keys100kPerSecond: Math.round(manyKeys.perSecond),
      ...callsOf('unlimited', (valueOf) => middle('none', valueOf)),
      ...callsOf('nonBinding', (valueOf) => middle('nonBinding', valueOf)),
      ...callsOf('cap', (valueOf) => middle('cap', valueOf)),
      ...callsOf('binding', (valueOf) => valueOf(binding)),
      ...callsOf('keys100k', (valueOf) => valueOf(manyKeys)),
      ...callsOf('besideKeys', (valueOf) => valueOf(besideKeys)),
    },
    ratios: {
      nonBinding: rounded(median(rounds.map(({ none, nonBinding }) => nonBinding.perSecond / none.perSecond))),
      nonBindingCpu: rounded(
        middle('none', ({ cpuMicros }) => cpuMicros) / middle('nonBinding', ({ cpuMicros }) => cpuMicros),
      ),
      cap: rounded(median(rounds.map(({ none, cap }) => cap.perSecond / none.perSecond))),
      binding: rounded(bindingPerSecond / BINDING_PER_SECOND),
      keys100k: rounded(manyKeys.perSecond / oneKey.perSecond),
      keys100kCpu: rounded(oneKey.cpuMicros / manyKeys.cpuMicros),
      besideKeysCpu: rounded(besideOneKey.cpuMicros / besideKeys.cpuMicros),
    },
    settings: {
      count,
      n: keys,
      rounds: roundCount,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...storeSettings[store],
      ...machine,
    },
  }
}

/** What each execution takes: CPU time of the process, batches of the worker, and operations that concern permits. */
function callsOf(name: string, value: (valueOf: (drain: Drain) => number) => number): Record<string, number> {
  return {
    [`${name}CpuMicros`]: Math.round(value(({ cpuMicros }) => cpuMicros)),
    [`${name}BatchesEach`]: rounded(value(({ batches }) => batches)),
    [`${name}PermitOperationsEach`]: rounded(value(({ permitOperations }) => permitOperations)),
  }
}

export const limits: Scenario = {
  summary:
    'drains a backlog with limits that hold nothing back, with a rate that does, and with a key for each execution, beside one without',
  run,
}
