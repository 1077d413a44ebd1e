/** A fleet that is upgraded while it works: processes of both versions, and then a higher level, under load. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import { Fabric } from '../../src/fabric/fabric.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { silentLog, systemRuntime } from '../../src/runtime/index.ts'
import type { Levels } from '../../src/stores/level/store-level.ts'
import { migrateAs } from '../../src/stores/open/migrate-store.ts'
import { openStore } from '../../src/stores/open/open-store.ts'

const OLD: Levels = { min: 1, max: 1 }
const NEW: Levels = { min: 1, max: 2 }
/** Submits of one phase by each process. */
const COUNT = 25

const work = task<number, number>('work')
const handler = work.handle(async (n, ctx) => {
  ctx.log.info({ n }, 'working')
  return await ctx.step('add', () => n + 1)
})

async function start(location: string, levels: Levels): Promise<Fabric> {
  const runtime = systemRuntime()
  const fabric = new Fabric(await openStore(location, { runtime, levels, log: silentLog }), runtime, { log: silentLog })
  onTestFinished(() => fabric.close())
  await fabric.work([handler], { sweep: '100ms' })
  return fabric
}

async function migrate(location: string) {
  const runtime = systemRuntime()
  return (await migrateAs({ levels: NEW, clock: 'server' }, location, { runtime })).level
}

export function rollingUpgradeConforms(
  targets: readonly { readonly name: string; readonly newLocation: () => string | Promise<string> }[],
): void {
  describe.each(targets)('a fleet on $name', ({ newLocation }) => {
    test('is upgraded under load, and its level raised: nothing is lost and nothing is refused', async () => {
      const location = await newLocation()
      const submitted = new Map<ExecutionId, number>()
      const load = async (...fabrics: readonly Fabric[]) => {
        const submits = fabrics.flatMap((fabric) =>
          Array.from({ length: COUNT }, async (_, n) => submitted.set((await fabric.submit(work, n)).id, n)),
        )
        await Promise.all(submits)
      }

      const old = await start(location, OLD)
      const next = await start(location, NEW)
      await load(old, next)
      const [first] = await Promise.all([migrate(location), load(old, next)])
      expect(first).toMatchObject({ kind: 'held_back', heldBackBy: [{ levelMax: 1 }] })
      const another = await start(location, NEW)
      await Promise.all([load(next, another), old.close()])
      const [second] = await Promise.all([migrate(location), load(next, another)])
      expect(second).toMatchObject({ kind: 'raised', from: 1, to: 2 })
      await load(next, another)

      expect(submitted.size).toBe(10 * COUNT)
      for (const [id, n] of submitted) expect(await next.execution(id).result()).toBe(n + 1)
      await expect(start(location, OLD)).rejects.toMatchObject({ code: 'newer_schema' })
    })
  })
}
