import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { byRole } from '../http/served.ts'
import { until } from '../servers/until.ts'
import { startBrowser } from './browser.ts'
import { fill } from './fill.ts'
import { LIMIT_MS, Visit } from './visit.ts'
import { World, tasks } from './world.ts'

/** What the first screen may load, compressed. */
const FIRST_SCREEN_BYTES = 200_000

const SCREENS = [
  '',
  'executions',
  'executions/order:2',
  'executions/note:1?tab=values',
  'executions/order:2?tab=logs',
  'executions/text:1?tab=ledger',
  'executions/note:1?tab=ledger',
  'flows',
  'flows/sum:broken',
  'approvals',
  'lanes',
  'workers',
  'limits',
  'budgets',
  'budgets/tenants?key=acme',
  'schedules',
  'consumers',
  'consumers/billing',
  'webhooks',
  'webhooks/crm',
  'failures',
  'costs?budget=company',
  'keys',
  'scanners',
  'audit',
  'system',
]

let browser: Browser
let world: World

beforeAll(async () => {
  ;[browser, world] = await Promise.all([startBrowser(), World.start()])
  await fill(world)
})

afterAll(async () => {
  await Promise.all([browser.close(), world.close()])
})

/** Waits until the list has a filter, because its rows before may be replaced under a click. */
async function filtered(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Clear' }).waitFor()
}

test('an operator finds an execution, reads why it waits, answers it, and sees it end without a reload', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions')

  await page.getByRole('link', { name: 'suspended' }).click()
  await filtered(page)
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

test('an approval names its voters, and a vote of another person is shown as one that does not count', async () => {
  const { id } = await world.fabric.submit(tasks.order, { item: 'mead' })
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open(`executions/${id}`)
  await page.getByText(/It waits for approval by 'ada' in 'review'/).waitFor()
  await page.getByRole('link', { name: 'Waits and signals' }).click()
  await page.getByText('ada', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'approve' }).click()
  await page.getByRole('button', { name: 'Send the answer' }).click()

  await page
    .getByRole('dialog')
    .getByText(/it does not count/)
    .waitFor()
  await page.keyboard.press('Escape')
  await page.getByText(/It waits for approval by 'ada'/).waitFor()
  await world.fabric.execution(id).cancel('the test is over')
})

test('the time since an instant is right on a screen that follows one without instants', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await page.clock.install()
  await visit.open('system')
  await page.getByRole('heading', { name: 'Server and store' }).waitFor()
  await page.clock.fastForward('01:00:00')

  await page.getByRole('link', { name: 'Workers' }).click()

  await page.locator('main time').filter({ hasText: /^1 h/ }).first().waitFor()
})

test('the lines that a handler has logged are shown with their level, as text', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions/order:2')
  await page.getByRole('link', { name: 'Logs' }).click()
  await page.getByText('reserving {"item":"wax"}').waitFor()
  const warning = page.getByRole('listitem').filter({ hasText: 'only <b>one</b> wax is left' })
  expect(await warning.textContent()).toContain('warn')
  await page.getByLabel('Level').selectOption('warn')
  await page.getByText('reserving').waitFor({ state: 'detached' })
  await warning.waitFor()
})

test('a cancel asks first, is recorded with its reason, and a replay runs the execution again', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions/video:1')

  await page.getByText('minute 1 of 3').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('dialog').waitFor()
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

  await visit.go('Lanes')
  const lane = page.locator('section').filter({ has: page.getByRole('link', { name: 'gpu', exact: true }) })
  await lane.getByRole('button', { name: 'Pause' }).click()
  await page.getByLabel('Reason (optional)').fill('the cards are replaced')
  await page.getByRole('button', { name: 'Pause it' }).click()
  await lane.getByText('the cards are replaced').waitFor()
  expect(await world.fabric.lanes('gpu')).toMatchObject([
    { state: 'paused', hold: { reason: 'the cards are replaced' } },
  ])

  await visit.go('Executions')
  await page.getByRole('textbox', { name: 'Lane' }).fill('gpu')
  await page.getByRole('button', { name: 'Filter' }).click()
  await filtered(page)
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
  await expect.poll(() => page.getByRole('row').count(), { timeout: LIMIT_MS }).toBe(2)

  await page.getByRole('button', { name: 'Replay failed' }).click()
  await page.getByRole('button', { name: 'Replay them' }).click()
  await until('the member has run again', LIMIT_MS, async () => {
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

  await visit.go('Schedules')
  await page.getByText('0 3 * * * (UTC)').waitFor()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('button', { name: 'Run it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Pause it' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await world.fabric.schedule('nightly').describe({})).state).toBe('paused')
})

test('budgets are a tree with what is spent and left, and are raised, reset, frozen and opened', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('budgets')
  await page.getByText('300 spent, 9,700 left of 10,000').waitFor()
  const below = page.locator('.tree ul section')
  await below.getByText('300 spent, 700 left of 1,000').waitFor()

  await below.getByRole('link', { name: 'acme' }).click()
  const use = page.getByRole('row', { name: /acme/ }).first()
  await page
    .getByRole('row', { name: /300 tokens/ })
    .getByRole('link', { name: 'text.summarise' })
    .click()
  await page.getByRole('link', { name: 'Ledger' }).click()
  await page.getByRole('row', { name: /300 tokens/ }).waitFor()
  await page.getByRole('link', { name: 'tenants (acme)' }).click()
  await use.getByRole('button', { name: 'Raise' }).click()
  await page.getByRole('button', { name: 'Raise it' }).click()
  await page.getByText('Give an amount of one dimension at least.').waitFor()
  await page.getByLabel('Add to tokens').fill('500')
  await page.getByLabel('Reason').fill('a launch')
  await page.getByRole('button', { name: 'Raise it' }).click()
  await use.getByText('300 spent, 1,200 left of 1,500').waitFor()
  await use.getByRole('button', { name: 'Reset' }).click()
  await page.getByRole('button', { name: 'Reset it' }).click()
  await use.getByText('0 spent, 1,000 left of 1,000').waitFor()
  await page.getByRole('table', { name: 'Past periods' }).getByText('300 tokens').waitFor()

  await page.getByRole('button', { name: 'Freeze' }).click()
  await page.getByLabel('Reason (optional)').fill('an incident')
  await page.getByRole('button', { name: 'Freeze it' }).click()
  await page.getByText('an incident').waitFor()
  expect(await world.fabric.budgets.describe('tenants')).toMatchObject({ frozen: { reason: 'an incident' } })
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('button', { name: 'Open it' }).click()
  await page.getByRole('button', { name: 'Freeze' }).waitFor()
  expect((await world.fabric.budgets.describe('tenants')).frozen).toBeUndefined()
})

test('a consumer shows its lag and what it fails on, is moved, and is deleted', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('consumers')
  const billing = page.locator('section').filter({ has: page.getByRole('link', { name: 'billing' }) })
  await billing.getByText(/the ledger is closed/).waitFor()
  await billing.getByText('execution ended · task mail.send · and those of no namespace').waitFor()

  const audit = page.locator('section').filter({ has: page.getByRole('link', { name: 'audit' }) })
  await audit.getByText('none consumes').waitFor()
  await audit.getByRole('button', { name: 'Move' }).click()
  await page.getByRole('dialog').getByRole('combobox').selectOption('cursor')
  await page.getByRole('button', { name: 'Move it' }).click()
  await page.getByText('Give the cursor of an event.').waitFor()
  await page.getByRole('dialog').getByRole('combobox').selectOption('start')
  await page.getByRole('button', { name: 'Move it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await world.fabric.consumer('audit').describe()).lagCount).toBeGreaterThan(300)

  await audit.getByRole('link', { name: 'audit' }).click()
  await page.getByRole('columnheader', { name: 'Position' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByLabel('Reason').fill('the trail is in the store')
  await page.getByRole('button', { name: 'Delete it' }).click()
  await billing.waitFor()
  await audit.waitFor({ state: 'detached' })

  await visit.open('audit')
  await page.getByRole('row', { name: /delete consumer.*audit.*the trail is in the store/ }).waitFor()
  // The page of the consumer may read it once more before the list replaces it.
  visit.forgive(/status of 404/)
})

test('a webhook lists its deliveries, repeats one with the same id, and is disabled and enabled', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('webhooks')
  await page.getByText(`${world.receiver.origin}/hooks?key=x`).waitFor()
  await page.getByRole('link', { name: 'crm' }).click()
  await page.getByRole('link', { name: 'failed', exact: true }).click()
  await page.getByText('There is no such delivery.').waitFor()
  await page.getByRole('link', { name: 'completed', exact: true }).click()
  const delivery = page.getByRole('row', { name: /execution ended/ })
  await delivery.getByRole('button', { name: 'Deliver again' }).click()
  await page.getByRole('button', { name: 'Send it' }).click()
  const { eventIds } = world.receiver
  await until('the receiver has it twice', LIMIT_MS, () => Promise.resolve(eventIds.length === 2 || undefined))
  expect(eventIds[1]).toBe(eventIds[0])

  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByLabel('Reason (optional)').fill('the receiver moves')
  await page.getByRole('button', { name: 'Disable it' }).click()
  await page.getByText(/by http, .*: the receiver moves/).waitFor()
  expect((await world.fabric.webhooks.describe('crm')).state).toBe('disabled')
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('button', { name: 'Enable it' }).click()
  await page.getByRole('button', { name: 'Disable' }).waitFor()
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
  await until('the oldest execution is in sight', LIMIT_MS, async () => {
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
  visit.forgive(/ERR_(CONNECTION_|INCOMPLETE_CHUNKED|EMPTY_RESPONSE)|status of 503/)
})

test('every screen is accessible, in light and in dark colours', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  const found: Record<string, readonly string[]> = {}
  const check = async (name: string) => {
    await visit.loaded()
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

test('tables and trees scroll within their panels in a narrow window', async () => {
  const visit = await Visit.begin(browser, world, { viewport: { width: 420, height: 800 } })
  const { page } = visit
  const widths: Record<string, number> = {}
  for (const path of ['budgets', 'budgets/tenants?key=acme', 'keys', 'webhooks/crm', 'schedules', 'lanes']) {
    await visit.open(path)
    await page.locator('main .panel').first().waitFor()
    await visit.loaded()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 420) widths[path] = width
  }
  expect(widths).toEqual({})
})

test('the link to the content stays on its screen, and actions need no secure context', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  // Missing on plain HTTP under another name than localhost.
  await page.addInitScript('delete Crypto.prototype.randomUUID; delete Navigator.prototype.clipboard')
  await visit.open('approvals')
  await page.locator('main h1').waitFor()
  const address = page.url()

  await page.getByRole('link', { name: 'Skip to the content' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('main:focus').waitFor()
  expect(page.url()).toBe(address)
  await page.getByRole('button', { name: 'approve' }).first().click()
  await page.getByRole('dialog').waitFor()
  await visit.open('executions/note:1?tab=values')
  await page.locator('.json').first().waitFor()
  expect(await page.getByRole('button', { name: /Copy/ }).count()).toBe(0)
})

test('a token signs in at a mount of its own, the cookie is out of reach of scripts, and a viewer may only look', async () => {
  const guarded = await World.start({ authenticate: byRole, basePath: '/fabric' })
  onTestFinished(() => guarded.close())
  const url = `${guarded.receiver.origin}/hooks?key=x`
  await guarded.fabric.webhooks.define('crm', { url, allowPrivate: true })
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

  await visit.go('Webhooks')
  await page.getByText(guarded.receiver.origin, { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: /Disable|Delete/ }).count()).toBe(0)
  await visit.go('Consumers')
  await page.getByText('There is no consumer').waitFor()
  await visit.go('Budgets')
  await page.getByRole('link', { name: 'tenants' }).waitFor()
  expect(await page.getByRole('button', { name: /Freeze|Raise|Reset/ }).count()).toBe(0)

  for (const screen of ['Keys', 'Audit']) {
    await visit.go(screen)
    await page.getByText(/Your role does not permit this\..*needs the role operator/).waitFor()
  }
  for (const screen of ['Errors', 'Costs', 'Scanners']) {
    await visit.go(screen)
    await page.locator('main table, main .empty').first().waitFor()
    expect(await page.getByRole('button', { name: /Replay|Rotate/ }).count()).toBe(0)
  }

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await page.context().cookies()).toEqual([])

  // The server serves another namespace only.
  await page.getByLabel('Token').fill('operator-acme')
  await page.keyboard.press('Enter')
  await page.getByText('operator, operator of acme').waitFor()
  await visit.go('Executions')
  await page.getByText(/Your role does not permit this\..*this server serves 'default' only/).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()

  await page.getByLabel('Token').fill('viewer-default')
  await page.keyboard.press('Enter')
  await visit.go('Budgets')
  await page.getByText(/Your role does not permit this\..*bound to the namespace/).waitFor()
  visit.forgive(/status of 40[13]/)
})
