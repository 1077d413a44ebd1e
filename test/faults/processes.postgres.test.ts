import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/runtime/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import type { Member, MemberPlan } from '../crash/fleet.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { until } from '../servers/until.ts'
import {
  LEASE_MS,
  judgeSite,
  killProcesses,
  newFleet,
  seeAllPartitions,
  untilAcknowledged,
} from './killed-processes.ts'
import { CLIENT_GONE, IDLE, unexplainedLines } from './server-log.ts'
import { ServerSite } from './server-site.ts'
import { RECOVERY_LIMIT_MS, say } from './verdict.ts'

const KILLS = 12
/** Of each process. */
const KILLS_IN_TRANSACTION = 3
const SUBMITS_PER_SECOND = 60
const CATCH_LIMIT_MS = 90_000
/** What was sent before a process was halted is done by then. */
const SETTLED_MS = 40

const FIND_HOLDER = `
  select a.pid, a.state_change::text as since from pg_stat_activity a
  where a.application_name = $1 and a.state = 'idle in transaction'
    and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory' and l.granted)`

/** The server's own views call its connections by its name. */
function named({ name, program, args: [location, ...others] }: MemberPlan): MemberPlan {
  return { name, program, args: [`${location}?application_name=${name}`, ...others] }
}

interface Holder {
  readonly pid: number
  /** Changes when the server begins or ends a statement of it. */
  readonly since: string
}

/** Halts a process again and again until that happens while it holds the lock of a partition. Answers who holds it. */
async function haltInTransaction(member: Member, server: PostgresServer): Promise<Holder> {
  await member.isReady
  return await until('a process is halted in a transaction', CATCH_LIMIT_MS, async () => {
    member.halt()
    await sleep(SETTLED_MS)
    const [holder] = await server.query(FIND_HOLDER, [member.plan.name])
    if (holder !== undefined) return { pid: Number(holder['pid']), since: String(holder['since']) }
    member.goOn()
    return undefined
  })
}

/**
 * Halts a process in a transaction until the server ends that. A server that is short of a core may find the rest of the transaction
 * only after the process was halted, so that it ends well; then the process is halted in another one. Answers when it was halted.
 */
async function haltUntilEnded(member: Member, server: PostgresServer): Promise<number> {
  return await until('the server ends a transaction', CATCH_LIMIT_MS, async () => {
    const { pid, since } = await haltInTransaction(member, server)
    const haltedAt = performance.now()
    const isEnded = await until('the server ends the transaction', RECOVERY_LIMIT_MS, async () => {
      const [found] = await server.query('select state_change::text as since from pg_stat_activity where pid = $1', [
        pid,
      ])
      if (found === undefined) return true
      return found['since'] === since ? undefined : false
    })
    if (isEnded) return haltedAt
    member.goOn()
    return undefined
  })
}

/** A process that is halted for longer than its leases last loses those that it holds just then, if any. */
async function haltUntilReclaimed(member: Member, fabric: Fabric): Promise<void> {
  await until('a lease of a halted process is reclaimed', CATCH_LIMIT_MS, async () => {
    member.halt()
    await sleep(2 * LEASE_MS)
    member.goOn()
    for (let number = 0; number < fabric.store.settings.executionPartitions; number++) {
      const { events } = await fabric.store.dump(executionPartition(number))
      if (events.some(({ type }) => type === 'lease_expired')) return true
    }
    return undefined
  })
}

test('processes on a postgres are killed at any moment, and what was acknowledged ends exactly once', async () => {
  await using server = await startPostgres()
  await killProcesses('processes on a postgres killed', server.location, KILLS)
  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
})

test('a process that is killed or halted in a transaction loses it: others continue, and it does no harm if it comes back', async () => {
  await using server = await startPostgres()
  using site = new ServerSite(server.location)
  await using fleet = newFleet()
  await using fabric = await createFabric(server.location, { log: silentLog })
  let worker = fleet.start(named(site.worker('worker-1', LEASE_MS)))
  let submitter = fleet.start(named(site.submitter('submitter-1', SUBMITS_PER_SECOND)))
  fleet.start(site.worker('worker-2', LEASE_MS))
  fleet.start(site.engine('engine-1'))

  for (let kill = 0; kill < KILLS_IN_TRANSACTION; kill++) {
    await haltInTransaction(worker, server)
    await fleet.kill(worker)
    await haltInTransaction(submitter, server)
    await fleet.kill(submitter)
    worker = fleet.start(worker.plan)
    submitter = fleet.start(submitter.plan)
  }
  const killedAt = performance.now()
  await seeAllPartitions(fabric)
  const killRecoveryMs = Math.round(performance.now() - killedAt)

  const haltedAt = await haltUntilEnded(worker, server)
  const lockedMs = Math.round(performance.now() - haltedAt)
  await seeAllPartitions(fabric)
  const recoveryMs = Math.round(performance.now() - haltedAt)
  await untilAcknowledged(site, 20)
  worker.goOn()
  await untilAcknowledged(site, 20)
  await haltUntilReclaimed(worker, fabric)
  await fleet.stop('submitter')

  const verdict = await judgeSite(site, fleet)
  say('processes killed and halted in transactions', {
    kills: fleet.killCount,
    'after kills recovered in ms': killRecoveryMs,
    'locked for ms': lockedMs,
    'recovered in ms': recoveryMs,
    ...verdict,
  })
  expect(server.logLines(IDLE)).not.toEqual([])
  expect(unexplainedLines(server, IDLE, CLIENT_GONE)).toEqual([])
  expect(verdict.reclaimed).toBeGreaterThan(0)
  expect(Math.max(killRecoveryMs, recoveryMs)).toBeLessThan(RECOVERY_LIMIT_MS)
})
