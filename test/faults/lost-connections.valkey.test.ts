import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Load } from './load.ts'
import { Sleeper } from './sleeper.ts'
import { Target } from './targets.ts'
import { RECOVERY_LIMIT_MS, WAKE_LIMIT_MS, judge, say } from './verdict.ts'

const STORM_MS = 2_500
const BETWEEN_KILLS_MS = 40

test.each(['valkey', 'redis', 'cluster'] as const)(
  'all connections to a %s are ended again and again under load; afterwards work continues and wake-ups arrive',
  async (name) => {
    await using target = await Target.start(name)
    await using load = await Load.start(target.location)
    await using sleeper = await Sleeper.start(target.location, load.ledger)
    let killCount = 0

    await load.untilBusy(100)
    for (const endAt = performance.now() + STORM_MS; performance.now() < endAt;) {
      const kinds = ['normal', 'pubsub'].map((kind) => target.callEach('CLIENT', 'KILL', 'TYPE', kind))
      killCount += (await Promise.all(kinds)).flat().reduce<number>((sum, count) => sum + Number(count), 0)
      await sleep(BETWEEN_KILLS_MS)
    }
    const recoveryMs = await load.recoveryMs(performance.now())
    const wakeMs = await sleeper.wakeMs(load.fabric)
    await load.untilBusy(50)

    const { lost, ...verdict } = await judge(load)
    say(`connections to a ${name} ended`, {
      kills: killCount,
      'recovered in ms': recoveryMs,
      'woken in ms': wakeMs,
      ...verdict,
      lost: lost.length,
    })
    expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS)
    expect(wakeMs).toBeLessThan(WAKE_LIMIT_MS)
  },
)
