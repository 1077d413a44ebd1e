/**
 * Makes the screenshots of docs/dashboard.md: `npm run screenshots`, after `npm run build`. With a folder, it makes one of every screen
 * there, in light and dark colours, wide and narrow, for a person to look at.
 */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { startBrowser } from './browser.ts'
import { fill } from './fill.ts'
import { World, tasks } from './world.ts'

const DOCS = path.join(import.meta.dirname, '../../docs/images')
const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 420, height: 800 }
const LOADED_MS = 30_000

const SCREENS: Readonly<Record<string, string>> = {
  overview: '',
  executions: 'executions',
  execution: 'executions/order:2',
  logs: 'executions/order:2?tab=logs',
  failed: 'executions/note:1',
  values: 'executions/note:1?tab=values',
  ledger: 'executions/text:1?tab=ledger',
  errors: 'failures',
  flows: 'flows',
  flow: 'flows/sum:broken',
  approvals: 'approvals',
  lanes: 'lanes',
  workers: 'workers',
  limits: 'limits',
  budgets: 'budgets',
  budget: 'budgets/tenants?key=acme',
  costs: 'costs?budget=company',
  schedules: 'schedules',
  consumers: 'consumers',
  webhooks: 'webhooks',
  keys: 'keys',
  scanners: 'scanners',
  audit: 'audit',
  system: 'system',
}
/** Those of the documentation, and their colours. */
const IN_DOCS = { overview: 'light', execution: 'light', flow: 'light', costs: 'dark' } as const

async function shoot(
  browser: Browser,
  world: World,
  { name, file, colours, viewport }: { name: string; file: string; colours: 'light' | 'dark'; viewport: typeof WIDE },
): Promise<void> {
  const page = await browser.newPage({ viewport, colorScheme: colours, reducedMotion: 'reduce' })
  await page.goto(`${world.url}/ui/${SCREENS[name]}`)
  await page.locator('main h1').waitFor({ timeout: LOADED_MS })
  await page.locator('.loading').first().waitFor({ state: 'detached', timeout: LOADED_MS })
  await page.screenshot({ path: file, animations: 'disabled' })
  await page.close()
}

/** Leaves traces of operators, and costs of several tenants. */
async function act({ fabric, url }: World): Promise<void> {
  const tenants = { bees: 420, corner: 180, delta: 95, east: 60 }
  for (const [tenant, tokens] of Object.entries(tenants)) {
    await (await fabric.submit(tasks.summarise, { tenant, tokens })).result()
  }
  const send = (method: string, route: string, body: object) =>
    fetch(`${url}/v1/${route}`, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  await send('POST', 'lanes/gpu/pause', { reason: 'the cards are replaced', by: 'ada' })
  await send('POST', 'executions/charge:7/cancel', { reason: 'sent twice', by: 'ben' })
  await send('POST', 'executions/mail:1/replay', { reason: 'the address was corrected', by: 'ada' })
}

const [folder] = process.argv.slice(2)
const [browser, world] = await Promise.all([startBrowser(), World.start()])
await fill(world)
await act(world)
await mkdir(folder ?? DOCS, { recursive: true })
if (folder === undefined) {
  for (const [name, colours] of Object.entries(IN_DOCS)) {
    await shoot(browser, world, { name, file: path.join(DOCS, `dashboard-${name}.png`), colours, viewport: WIDE })
  }
} else {
  for (const name of Object.keys(SCREENS)) {
    await shoot(browser, world, { name, file: path.join(folder, `${name}.png`), colours: 'light', viewport: WIDE })
    await shoot(browser, world, { name, file: path.join(folder, `${name}-dark.png`), colours: 'dark', viewport: WIDE })
    await shoot(browser, world, {
      name,
      file: path.join(folder, `${name}-narrow.png`),
      colours: 'light',
      viewport: NARROW,
    })
  }
}
await Promise.all([browser.close(), world.close()])
