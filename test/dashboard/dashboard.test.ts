import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { byRole } from '../http/served.ts'
import { until } from '../servers/until.ts'
import { startBrowser } from './browser.ts'
import { Visit } from './visit.ts'
import { HOSTILE, World, addition, tasks } from './world.ts'

/** What the first screen may load, compressed. */
const FIRST_SCREEN_BYTES = 200_000
const LOADED_MS = 20_000

const SCREENS = [
  '',
  'executions',
  'executions/order:2',
  'executions/note:1?tab=values',
  'flows',
  'flows/sum:broken',
  'approvals',
  'lanes',
  'workers',
  'limits',
  'schedules',
  'system',
]

let browser: Browser
let world: World

beforeAll(async () => {
  ;[browser, world] = await Promise.all([startBrowser(), World.start()])
  const { fabric } = world
  await Promise.all([
    ...Array.from({ length: 300 }, (_, i) => fabric.submit(tasks.charge, { cents: i }, { id: `charge:${i}` })),
    fabric.submit(tasks.refuse, {}, { id: 'mail:1' }),
    fabric.submit(tasks.hostile, HOSTILE, { id: 'note:1' }),
    fabric.submit(tasks.order, { item: 'honey' }, { id: 'order:1', tags: { plan: 'pro' } }),
    fabric.submit(tasks.order, { item: 'wax' }, { id: 'order:2' }),
    fabric.submit(tasks.settle, {}, { id: 'payment:1' }),
    fabric.submit(tasks.encode, { minutes: 3 }, { id: 'video:1' }),
    fabric.submit(tasks.nowhere, {}, { id: 'gpu:1' }),
    fabric.submit(tasks.nowhere, {}, { id: 'gpu:2' }),
    fabric.submit(addition, { parts: 60, broken: 7 }, { id: 'sum:broken' }),
    fabric.limits.define('bank', { perMinute: 60, concurrency: 4 }),
    fabric.schedule('nightly', { task: tasks.charge, input: { cents: 1 }, cron: '0 3 * * *' }),
  ])
  await Promise.all([
    world.untilState('order:1', 'suspended'),
    world.untilState('order:2', 'suspended'),
    world.untilState('payment:1', 'suspended'),
    world.untilState('video:1', 'active'),
    world.untilState('note:1', 'failed'),
  ])
})

afterAll(async () => {
  await Promise.all([browser.close(), world.close()])
})

test('an operator finds an execution, reads why it waits, answers it, and sees it end without a reload', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions')

  await page.getByRole('link', { name: 'suspended' }).click()
  await page.getByRole('link', { name: /order\.place\s*order:1/ }).click()
  await page.getByText(/It waits for approval in 'review'/).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/ui\/executions\/0-/)
  expect(await page.getByRole('listitem').filter({ hasText: 'reserve' }).textContent()).toContain('completed')

  await page.getByRole('link', { name: 'Waits and signals' }).click()
  await page.getByRole('button', { name: 'approve' }).click()
  await page.getByLabel('Value (optional)').fill('not json')
  await page.getByRole('button', { name: 'Send the answer' }).click()
  await page.getByText('The value is not JSON.').waitFor()
  await page.getByLabel('Value (optional)').fill('{ "note": "as agreed" }')
  await page.getByRole('button', { name: 'Send the answer' }).click()

  await page.getByText(/It ended at .*: completed\./).waitFor()
  await page.getByRole('link', { name: 'Input and result' }).click()
  await page.getByLabel('result', { exact: true }).getByText('"honey is on its way"').waitFor()
  await page.getByRole('link', { name: 'Events' }).click()
  await page.getByRole('cell', { name: /approve · .*resumed/ }).waitFor()
})

test('a cancel asks first, is recorded with its reason, and a replay runs the execution again', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions/video:1')

  await page.getByText('minute 1 of 3').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await world.fabric.describe('video:1', {})).state).toBe('active')

  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByLabel('Reason').fill('the film was withdrawn')
  await page.getByRole('button', { name: 'Cancel it' }).click()
  await page.getByText(/cancelled by http \(the film was withdrawn\)/).waitFor()

  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('button', { name: 'Replay it' }).click()
  await page.getByText(/It is running: attempt 2/).waitFor()
})

test('the overview says why work is not running, and a lane is paused with a reason', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('')

  const waiting = page.getByRole('listitem').filter({ hasText: 'gpu.train' })
  await waiting.getByText(/No live worker serves task 'gpu\.train' in lane 'gpu'/).waitFor()
  expect(await waiting.textContent()).toContain('and 1 more')
  await page.getByRole('listitem').filter({ hasText: 'the address does not exist' }).waitFor()

  await page.getByRole('link', { name: 'Lanes', exact: true }).click()
  const lane = page.locator('section').filter({ has: page.getByRole('link', { name: 'gpu', exact: true }) })
  await lane.getByRole('button', { name: 'Pause' }).click()
  await page.getByLabel('Reason (optional)').fill('the cards are replaced')
  await page.getByRole('button', { name: 'Pause it' }).click()
  await lane.getByText('the cards are replaced').waitFor()
  expect(await world.fabric.lanes('gpu')).toMatchObject([
    { state: 'paused', hold: { reason: 'the cards are replaced' } },
  ])

  await page.getByRole('link', { name: 'Executions', exact: true }).click()
  await page.getByRole('textbox', { name: 'Lane' }).fill('gpu')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('link', { name: /gpu:2/ }).click()
  await page.getByText(/Lane 'gpu' was paused by http .* \(the cards are replaced\)/).waitFor()
})

test('a flow is a graph in which equal members are one node, and its failed part is replayed', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('flows?state=failed')
  await page.getByRole('link', { name: /addition\s*sum:broken/ }).click()

  const folded = page.getByRole('button', { name: /part\s*60 members/ })
  await folded.waitFor()
  expect(await page.locator('.graph-node').count()).toBe(3)
  expect(await folded.textContent()).toContain('59 completed, 1 failed')
  await folded.click()
  await page.getByLabel('State').selectOption('failed')
  await page.getByRole('cell', { name: 'permanent: a part is negative' }).waitFor()
  expect(await page.getByRole('row').count()).toBe(2)

  await page.getByRole('button', { name: 'Replay failed' }).click()
  await page.getByRole('button', { name: 'Replay them' }).click()
  await until('the member has run again', 20_000, async () => {
    const { attempt, state } = await world.fabric.flow('sum:broken').member('part-7').describe()
    return attempt === 2 && state === 'failed' ? true : undefined
  })
})

test('limits and schedules are changed, with their numbers', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('limits')
  await page.getByText('60 per 1 min').waitFor()
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Rate').fill('90')
  await page.getByRole('button', { name: 'Change it' }).click()
  await page.getByText('90 per 1 min').waitFor()

  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByText('0 3 * * * (UTC)').waitFor()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('button', { name: 'Run it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Pause it' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await world.fabric.schedule('nightly').describe({})).state).toBe('paused')
})

test('texts of users are shown as text: no script runs, and hidden characters are visible', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions/note:1')

  await page.getByText('Failure', { exact: true }).waitFor()
  await page.getByText('Input and result').click()
  const shown = await page.getByLabel('input', { exact: true }).textContent()
  expect(shown).toContain('<script>window.planted=1</script>U+202Egnp.exeU+200B')
  expect(await page.locator('main script, main img').count()).toBe(0)
  expect(await page.evaluate('window.planted')).toBeUndefined()
  expect(await page.locator('main').textContent()).not.toMatch(/[\u202E\u200B]|(?!\n)\p{Cc}/u)

  const policy = (await page.request.get(`${world.url}/ui/`)).headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).not.toMatch(/unsafe|\*/)
})

test('a long list keeps a few rows in the document, and its first screen is small', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions?task=card.charge')

  await page
    .getByRole('row', { name: /card\.charge/ })
    .first()
    .waitFor()
  await page.getByRole('rowgroup', { name: 'Executions, rows' }).focus()
  // The heading is row 1.
  const oldest = page.locator('[aria-rowindex="301"]', { hasText: 'card.charge' })
  await until('the oldest execution is in sight', 20_000, async () => {
    await page.keyboard.press('End')
    return (await oldest.count()) === 1 ? true : undefined
  })
  expect(await page.getByRole('row').count()).toBeLessThan(80)
  expect(visit.assetBytes).toBeGreaterThan(0)
  expect(visit.assetBytes).toBeLessThan(FIRST_SCREEN_BYTES)
})

test('the page follows the log again after the server was restarted', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions?state=suspended')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('row', { name: /payment:1/ }).waitFor()

  await world.restartServer()
  await world.fabric.signal('payment:1', 'paid', { cents: 3 })
  await page.getByRole('row', { name: /payment:1/ }).waitFor({ state: 'detached' })
  await page.getByText('Live', { exact: true }).waitFor()
  visit.forgive(/ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED|EMPTY_RESPONSE)/)
})

test('every screen is accessible, in light and in dark colours', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  const found: Record<string, readonly string[]> = {}
  const check = async (name: string) => {
    // waitForFunction would evaluate a text in the page, which its policy forbids.
    await until('nothing loads', LOADED_MS, async () => (await page.locator('.loading').count()) === 0 || undefined)
    const violations = await visit.violations()
    if (violations.length > 0) found[name] = violations
  }
  for (const path of SCREENS) {
    await visit.open(path)
    await page.locator('main h1').waitFor()
    await check(path)
  }
  await visit.open('approvals')
  await page.getByRole('button', { name: 'approve' }).first().click()
  await page.getByRole('dialog').waitFor()
  await check('dialog')
  expect(found).toEqual({})
})

test('a token signs in at a mount of its own, the cookie is out of reach of scripts, and a viewer may only look', async () => {
  const guarded = await World.start({ authenticate: byRole, basePath: '/fabric' })
  onTestFinished(() => guarded.close())
  await guarded.fabric.submit(tasks.nowhere, {}, { id: 'gpu:1' })
  const visit = await Visit.begin(browser, guarded)
  const { page } = visit
  await visit.open('executions/gpu:1')

  await page.getByLabel('Token').fill('nobody')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Token').fill('viewer')
  await page.keyboard.press('Enter')
  await page.getByText(/It has been ready since/).waitFor()
  await page.getByText('You may look; changes need the role operator.').waitFor()
  expect(await page.evaluate('document.cookie')).toBe('')
  const [cookie] = await page.context().cookies()
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/fabric/' })

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await page.context().cookies()).toEqual([])
  visit.forgive(/status of 401/)
})
