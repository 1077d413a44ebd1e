import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Load } from './load.ts'
import { Target } from './targets.ts'
import { judge, say } from './verdict.ts'

const FLUSHES = 12
const BETWEEN_FLUSHES_MS = 150

test.each(['valkey', 'redis', 'cluster'] as const)(
  'the functions of a %s are removed again and again under load, and callers notice nothing but the time it takes',
  async (name) => {
    await using target = await Target.start(name)
    await using load = await Load.start(target.location)

    await load.untilBusy(50)
    for (let flush = 0; flush < FLUSHES; flush++) {
      await target.callEach('FUNCTION', 'FLUSH')
      await sleep(BETWEEN_FLUSHES_MS)
    }
    const recoveryMs = await load.recoveryMs(performance.now())
    await load.untilBusy(50)

    const { lost, ...verdict } = await judge(load)
    const refused = load.ledger.refusalCount
    say(`functions of a ${name} removed`, {
      times: FLUSHES,
      'recovered in ms': recoveryMs,
      ...verdict,
      lost: lost.length,
      refused,
    })
    expect(refused).toBe(0)
  },
)
