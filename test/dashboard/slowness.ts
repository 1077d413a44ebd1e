/**
 * Slows a page down, to find tests that act before the page is ready. `FLOWFABRIC_DASHBOARD_SLOW=<factor>:<ms>:<seed>` slows its processor
 * by a factor, and delays each answer and each part of its program by a random time up to a maximum.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { seededRandom } from '../../src/runtime/seeded-random.fixture.ts'

const given = process.env['FLOWFABRIC_DASHBOARD_SLOW']
const [factor = 1, delayMs = 0, seed = 1] = given === undefined ? [] : given.split(':').map(Number)

export async function slowDown(page: Page): Promise<void> {
  if (given === undefined) return
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: factor })
  const random = seededRandom(seed)
  await page.route(/\/(v1|ui\/assets)\//, async (route) => {
    await sleep(random.fraction() * delayMs)
    // The page may have been closed.
    await route.continue().catch(() => undefined)
  })
}
