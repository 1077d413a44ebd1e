/** The screens on which operators change many executions, look after the server, and read what was done and what it cost. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBrowser } from './browser.ts'
import { Visit } from './visit.ts'
import { World, tasks } from './world.ts'

const COUNT = 30

let browser: Browser
let world: World

/** Each reserves twice of what it spends. */
async function spendMost(): Promise<void> {
  for (const tokens of [500, 240, 120]) {
    await (await world.fabric.submit(tasks.summarise, { tenant: 'acme', tokens })).result()
  }
}

beforeAll(async () => {
  ;[browser, world] = await Promise.all([startBrowser(), World.start()])
  const { fabric } = world
  await Promise.all([
    ...Array.from({ length: COUNT }, (_, i) => fabric.submit(tasks.charge, { cents: i }, { id: `charge:${i}` })),
    ...[1, 2].map((i) => fabric.submit(tasks.refuse, {}, { id: `mail:${i}` })),
    fabric.submit(tasks.summarise, { tenant: 'bees', tokens: 140 }),
    spendMost(),
    fabric.submit(tasks.nowhere, {}, { id: 'gpu:1' }),
  ])
  await Promise.all([
    ...['mail:1', 'mail:2'].map((id) => world.untilState(id, 'failed')),
    world.untilState(`charge:${COUNT - 1}`, 'completed'),
  ])
})

afterAll(async () => {
  await Promise.all([browser.close(), world.close()])
})

test('a change of all that a saved view finds is counted first, runs, and leaves the others alone', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions?task=card.charge')
  await page.getByRole('button', { name: 'Save this view' }).click()
  await page.getByLabel('Name').fill('Charges')
  await page.getByRole('button', { name: 'Save the view' }).click()
  const view = page.getByRole('link', { name: 'Charges' })
  await view.waitFor()
  await visit.open('executions')
  await view.waitFor()
  expect(await page.getByRole('button', { name: 'Change all of these' }).count()).toBe(0)
  await view.click()
  await page.waitForURL(({ searchParams }) => searchParams.get('task') === 'card.charge')

  await page.getByRole('button', { name: 'Change all of these' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${COUNT} executions`).waitFor()
  await dialog.getByText('task: card.charge').waitFor()
  expect((await world.fabric.list({ tag: { name: 'incident', value: '42' } })).items).toEqual([])
  await dialog.getByLabel('Change').selectOption('tags')
  await dialog.getByLabel('Name of the tag').fill('incident')
  await dialog.getByLabel('Value').fill('42')
  await dialog.getByLabel('At most in a second').fill('10000')
  await dialog.getByRole('button', { name: 'Set a tag' }).click()
  await dialog.getByText(`${COUNT} of ${COUNT} changed`).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  const { items } = await world.fabric.list({ tag: { name: 'incident', value: '42' }, limit: 200 })
  expect(items.map(({ task }) => task)).toEqual(Array.from({ length: COUNT }, () => 'card.charge'))

  await page.getByRole('button', { name: 'Forget this view' }).click()
  await view.waitFor({ state: 'detached' })
})

test('an execution runs again from a step that is picked in its timeline', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('executions/charge:1')
  await page.getByText('capture', { exact: true }).click()
  await page.getByRole('button', { name: 'Replay from here' }).click()
  const steps = page.getByRole('dialog').getByLabel('Recorded steps')
  expect(await steps.locator('option:checked').textContent()).toBe('Discard “capture” and the later ones')
  await page.getByLabel('Reason').fill('the bank was down')
  await page.getByRole('button', { name: 'Replay it' }).click()
  await page.getByText('Replays', { exact: true }).waitFor()
  await world.untilState('charge:1', 'completed')
  const { replayCount, journal } = await world.fabric.describe('charge:1', {})
  expect([replayCount, journal.stepCount]).toEqual([1, 2])
})

test('an answer is asked for field by field, as the contract of the task says', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await world.fabric.submit(tasks.settle, {}, { id: 'payment:1' })
  await world.untilState('payment:1', 'suspended')
  await visit.open('executions/payment:1')
  await page.getByRole('button', { name: 'Send signal' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('paid')
  await dialog.getByLabel('Amount in cents').fill('0')
  await dialog.getByRole('button', { name: 'Send it' }).click()
  expect(await dialog.locator('input:invalid').count()).toBe(1)
  await dialog.getByLabel('Amount in cents').fill('250')
  await dialog.getByLabel('method (optional)').selectOption('cash')
  await dialog.getByLabel('isFinal').check()
  await dialog.getByRole('button', { name: 'Send it' }).click()
  await world.untilState('payment:1', 'completed')
  const { result } = await world.fabric.describe('payment:1', { result: true })
  expect(JSON.stringify(result)).toContain('{"cents":250,"method":"cash","isFinal":true}')
})

test('failures with one cause are a group, which is replayed as a whole', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('')
  await page.getByRole('link', { name: 'All causes' }).click()
  const group = page.getByRole('row', { name: /the address does not exist/ })
  expect(await group.getByRole('cell').first().textContent()).toBe('2')
  await group.getByRole('button', { name: 'Replay all' }).click()
  await page.getByText('2 executions').waitFor()
  await page.getByRole('button', { name: 'Replay them' }).click()
  await page.getByText('2 of 2 changed').waitFor()
  expect((await world.fabric.describe('mail:2', {})).replayCount).toBe(1)
})

test('costs are shown by task, tenant and day, and a budget that is nearly spent needs attention', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('costs?budget=company')
  await page.getByText('1,000 tokens in 4 reports').waitFor()
  const by = (title: string) => page.locator('section', { has: page.getByRole('heading', { name: title }) })
  expect(
    await by('By task')
      .getByRole('row', { name: /text\.summarise/ })
      .textContent(),
  ).toContain('1,000')
  expect(await by('By key of tenants').getByRole('row', { name: /acme/ }).textContent()).toContain('860')
  expect(await by('By day').getByRole('columnheader').count()).toBe(7)
  await page.getByRole('link', { name: 'Today' }).click()
  await page.waitForURL(({ searchParams }) => searchParams.get('range') === '1d')
  await page.getByRole('link', { name: 'acme' }).click()
  await page.getByText('860 spent, 140 left of 1,000').waitFor()

  await visit.go('Overview')
  await page.getByText('86 % of tokens is spent or reserved').waitFor()
  await page.getByRole('img', { name: /\d+ created, \d+ completed, 2 failed/ }).waitFor()
  await page.getByRole('button', { name: 'Last day' }).click()
  await page.getByText('Waited to start').waitFor()
})

test('what operators do is listed with who and why, also if it was refused', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('lanes')
  const lane = page.locator('section').filter({ has: page.getByRole('link', { name: 'gpu', exact: true }) })
  await lane.getByRole('button', { name: 'Limit' }).click()
  await page.getByRole('button', { name: 'Limit it' }).click()
  await page.getByText('Give a rate, a number at once, or both.').waitFor()
  await page.getByLabel('At once').fill('2')
  await page.getByLabel('Reason').fill('two cards are left')
  await page.getByRole('button', { name: 'Limit it' }).click()
  await lane.getByText('2 at once').waitFor()
  await page.request.post(`${world.url}/v1/executions/missing/cancel`, { data: { reason: 'gone', by: 'ben' } })

  await visit.go('Audit')
  const limited = page.getByRole('row', { name: /limit lane/ })
  expect(await limited.textContent()).toMatch(/http.*admin.*gpu.*two cards are left.*done/)
  await page.getByLabel('Person').fill('ben')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('row', { name: /cancel execution.*gone.*execution not found/ }).waitFor()
  await limited.waitFor({ state: 'detached' })
})

test('a webhook is defined and rotated, and each secret is shown once', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('webhooks')
  await page.getByRole('button', { name: 'Define a webhook' }).click()
  await page.getByLabel('Name').fill('books')
  await page.getByLabel('URL').fill('https://books.invalid/hooks')
  await page.getByLabel('Events').selectOption(['execution_ended', 'flow_ended'])
  await page.getByRole('button', { name: 'Define it' }).click()
  const first = await page.getByLabel('secret', { exact: true }).textContent()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('link', { name: 'books' }).click()
  // The list has the same facts and buttons.
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  await page.getByText('execution ended, flow ended').waitFor()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('button', { name: 'Rotate it' }).click()
  const second = await page.getByLabel('secret', { exact: true }).textContent()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  expect([/^whsec_/.test(first ?? ''), /^whsec_/.test(second ?? ''), first === second]).toEqual([true, true, false])
  // The event of a closed dialog comes a moment later.
  await page.getByLabel('secret', { exact: true }).waitFor({ state: 'detached' })
  await page.getByText('Secrets that sign').waitFor()
  expect(await page.locator('main').textContent()).not.toContain(second)
})

test('limits and schedules are defined, filled for the past, and deleted', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await world.fabric.schedule('nightly', { task: tasks.charge, input: { cents: 1 }, cron: '0 3 * * *' })
  await visit.open('limits')
  await page.getByRole('button', { name: 'Define a limit' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('bank')
  await page.getByLabel('Rate').fill('60')
  await page.getByRole('button', { name: 'Define it' }).click()
  await page.getByText('60 per 1 min').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await page.getByText('There is no limit').waitFor()

  await visit.go('Schedules')
  await page.getByRole('button', { name: 'Backfill' }).click()
  await page.getByLabel('First day').fill('2026-01-05')
  await page.getByLabel('Last day').fill('2026-01-04')
  await page.getByRole('button', { name: 'Fire for them' }).click()
  await page.getByText('The first day must not be after the last.').waitFor()
  await page.getByLabel('Last day').fill('2026-01-06')
  await page.getByRole('button', { name: 'Fire for them' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await world.fabric.schedule('nightly').describe({})).firedCount).toBe(2)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await page.getByText('There is no schedule').waitFor()
  // The use of the limit is read once more before it is known to be deleted.
  visit.forgive(/status of 404/)
})

test('keys and scanners are listed, and a rotation that the server cannot do says why', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('keys')
  await page.getByRole('row', { name: /signs/ }).waitFor()
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('button', { name: 'Rotate the keys' }).click()
  await page.getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  await visit.go('Scanners')
  await page.getByRole('row', { name: /index reconciler.*enabled.*nothing/ }).waitFor()
  visit.forgive(/status of 4\d\d/)
})

test('every new screen shows that it loads, fails and recovers', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  // A hidden page does not poll, so that only the button reads again.
  await page.addInitScript("Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })")
  const routes = { failures: 'failures', costs: 'budgets', keys: 'keys', scanners: 'scanners', audit: 'audit' }
  for (const [screen, route] of Object.entries(routes)) {
    const url = new RegExp(`/v1/${route}(\\?|$)`)
    const { promise: isReleased, resolve: release } = Promise.withResolvers<undefined>()
    await page.route(url, async (held) => {
      await isReleased
      // A read that was given up has no one to answer.
      await held
        .fulfill({ status: 500, json: { code: 'internal_error', detail: 'it broke', status: 500 } })
        .catch(() => undefined)
    })
    const isAsked = page.waitForRequest(url)
    await visit.open(screen)
    await isAsked
    await page.locator('main').getByRole('status').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    release(undefined)
    await page.getByRole('alert').getByText('it broke').waitFor()
    await page.unroute(url)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.locator('main table, main .empty').first().waitFor()
  }
  visit.forgive(/status of 500/)
})

test('the keyboard alone reaches a screen, opens a dialog and returns to its button', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  const reach = async (name: string) => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab')
      if ((await focused()) === name) return
    }
    throw new Error(`the keyboard does not reach ${name}`)
  }
  await visit.open('')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await reach('Keys')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /signs/ }).waitFor()
  await reach('Rotate')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused()).toBe('Rotate')
})

test('colours are chosen, and stay chosen', async () => {
  const visit = await Visit.begin(browser, world, { colorScheme: 'light' })
  const { page } = visit
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  await visit.open('audit')
  await page.getByRole('heading', { name: 'Audit' }).waitFor()
  expect(await ground()).toBe('rgb(246, 247, 249)')
  await page.getByLabel('Colours').selectOption('dark')
  expect(await ground()).toBe('rgb(15, 18, 24)')
  await page.reload()
  await page.getByRole('heading', { name: 'Audit' }).waitFor()
  expect(await ground()).toBe('rgb(15, 18, 24)')
})
