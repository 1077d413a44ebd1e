/** The forms with which operators define budgets and schedules and look after keys: what they ask for, refuse and store. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { byRole } from '../http/served.ts'
import { startBrowser } from './browser.ts'
import { Visit } from './visit.ts'
import { World } from './world.ts'

let browser: Browser
let world: World

beforeAll(async () => {
  ;[browser, world] = await Promise.all([startBrowser(), World.start({ authenticate: byRole }, { keyFile: true })])
})

afterAll(async () => {
  await Promise.all([browser.close(), world.close()])
})

/** A visit of a role, whose requests have its token. */
async function visitAs(role: string, screen: string): Promise<Visit> {
  const visit = await Visit.begin(browser, world, { extraHTTPHeaders: { authorization: `Bearer ${role}` } })
  await visit.open(screen)
  await visit.page.locator('main h1').waitFor()
  return visit
}

function problems(page: Page) {
  return page.getByRole('dialog').locator('.field-problem')
}

function fieldOf(page: Page, name: string) {
  return page.getByRole('textbox', { name, exact: true })
}

/** What is shown beside one field. */
function problemOf(page: Page, name: string) {
  return page.locator('.field', { has: fieldOf(page, name) }).locator('.field-problem')
}

async function budgetOf(name: string) {
  return (await world.fabric.budgets.list()).find((budget) => budget.name === name)
}

async function submit(page: Page, verb: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: verb }).click()
}

test('a budget is defined with its dimensions, period, parent and policy, and then changed and deleted', async () => {
  const visit = await visitAs('operator', 'budgets')
  const { page } = visit
  await page.getByRole('button', { name: 'Define a budget' }).click()
  await page.getByLabel('Name').fill('firm')
  await page.getByLabel('Hard').fill('100')
  await submit(page, 'Define it')
  await problems(page).getByText('An amount needs the name of its dimension.').waitFor()
  expect(await page.getByLabel('Hard').getAttribute('aria-invalid')).toBe('true')
  expect(await page.locator(':focus').getAttribute('name')).toBe('hard')
  await fieldOf(page, 'Dimension 1').fill('tokens')
  await page.getByRole('button', { name: 'Add a dimension' }).click()
  await fieldOf(page, 'Dimension 2').fill('cost')
  await page.getByLabel('Soft').nth(1).fill('2000000')
  await page.getByLabel('What finds no room').selectOption('it asks for an approval')
  await page.getByLabel('Begins anew').selectOption('at the times of a cron expression')
  await fieldOf(page, 'Cron expression').fill('0 6 * * 1')
  await page.getByLabel('Time zone').fill('Europe/Berlin')
  await page
    .getByText(/Monday.* at 06:00:00/)
    .first()
    .waitFor()
  expect(await visit.violations()).toEqual([])
  await page.getByLabel('Reason').fill('a new year')
  await submit(page, 'Define it')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await budgetOf('firm')).toMatchObject({
    hard: { tokens: 100 },
    soft: { cost: 2_000_000 },
    onBreach: 'suspend',
    every: '0 6 * * 1',
    timeZone: 'Europe/Berlin',
    reason: 'a new year',
    changedBy: 'operator',
  })

  await page.getByRole('button', { name: 'Define a budget' }).click()
  await page.getByLabel('Name').fill('teams')
  await page.getByLabel('Below').selectOption('firm')
  await page.getByLabel('Children of an execution').check()
  await submit(page, 'Define it')
  await page.getByRole('link', { name: 'teams' }).click()
  await page.getByRole('heading', { name: 'Facts' }).waitFor()
  await page.getByRole('button', { name: 'Change' }).click()
  await fieldOf(page, 'Dimension 1').fill('tokens')
  await page.getByLabel('Hard').fill('40')
  await submit(page, 'Change it')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await budgetOf('teams')).toMatchObject({ parent: 'firm', hard: { tokens: 40 }, inherit: true })

  await visit.go('Budgets')
  const firm = page.locator('section').filter({ has: page.getByRole('heading', { name: 'firm' }) })
  await firm.getByRole('button', { name: 'Delete' }).first().click()
  await submit(page, 'Delete it')
  await page.getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  expect(await budgetOf('firm')).toBeDefined()
  visit.forgive(/status of 409/)
})

test('a schedule shows its next runs while it is typed, is created, and gets other times', async () => {
  const visit = await visitAs('operator', 'schedules')
  const { page } = visit
  await page.getByText('There is no schedule').waitFor()
  await page.getByRole('button', { name: 'New schedule' }).click()
  await fieldOf(page, 'Name').fill('nightly')
  await fieldOf(page, 'Task').fill('card.charge')
  await page.getByLabel('Input').fill('{"cents": ')
  await fieldOf(page, 'Cron expression').fill('61 3 * * *')
  await page.getByLabel('Time zone').fill('Asia/Tokyo')
  await problems(page)
    .getByText(/is no cron expression/)
    .waitFor()
  await submit(page, 'Create it')
  await problems(page).getByText('The value is not JSON.').waitFor()
  await page.getByLabel('Input').fill('{"cents": 7}')
  await submit(page, 'Create it')
  await problemOf(page, 'Cron expression').waitFor()
  await fieldOf(page, 'Cron expression').fill('30 3 * * *')
  await page
    .getByText(/at 03:30:00/)
    .first()
    .waitFor()
  expect(await page.getByText(/at 03:30:00/).count()).toBe(5)
  await page.getByLabel('Jitter').fill('5m')
  await page.getByText('Next runs, each up to 5m later').waitFor()
  await page.getByLabel('If the last still runs').selectOption('run it afterwards')
  await page.getByLabel('Runs missed').selectOption('run none')
  await page.getByLabel('From (optional)').fill('2026-01-02T03:04:05')
  await page.getByLabel('Retention').fill('7d')
  await page.getByLabel('Tags').fill('plan:pro, team: red')
  expect(await visit.violations()).toEqual([])
  await submit(page, 'Create it')
  await page.getByText('30 3 * * * (Asia/Tokyo)').waitFor()
  const before = await world.fabric.schedule('nightly').describe()
  expect(before).toMatchObject({
    jitterMs: 300_000,
    overlap: 'queue',
    missed: 'skip',
    from: Date.UTC(2026, 0, 2, 3, 4, 5),
    tags: { plan: 'pro', team: 'red' },
  })

  await page.getByRole('button', { name: 'Change times' }).click()
  expect(await page.getByLabel('Jitter').inputValue()).toBe('5m')
  await page.getByRole('combobox', { name: 'Fires' }).selectOption('after a fixed period')
  await fieldOf(page, 'Period').fill('6h')
  await page.getByLabel('Jitter').fill('')
  await page
    .getByText(/at (03|09|15|21):04:05 UTC/)
    .first()
    .waitFor()
  await page.getByLabel('Reason').fill('four times a day')
  await submit(page, 'Change it')
  await page.getByText('every 6 h').waitFor()
  expect(await world.fabric.schedule('nightly').describe()).toMatchObject({
    everyMs: 21_600_000,
    jitterMs: 0,
    overlap: 'queue',
    tags: before.tags,
  })
  await page.getByRole('button', { name: 'Run now' }).click()
  await submit(page, 'Run it')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const { items } = await world.fabric.list({ schedule: 'nightly' })
  const { input } = await world.fabric.describe(items[0]?.id ?? '', { payload: true })
  expect(JSON.stringify(input)).toContain('{"cents":7}')
  visit.forgive(/status of 400/)
})

test('a schedule of a flow takes its graph, and the server checks it', async () => {
  const visit = await visitAs('operator', 'schedules')
  const { page } = visit
  await page.getByRole('button', { name: 'New schedule' }).click()
  await fieldOf(page, 'Name').fill('weekly')
  await page.getByLabel('Starts').selectOption('a flow')
  await page.getByLabel('Graph').fill('{"name": "sum"}')
  await fieldOf(page, 'Cron expression').fill('0 6 * * 1')
  await submit(page, 'Create it')
  await problemOf(page, 'Graph').waitFor()
  await page.getByLabel('Graph').fill('{"name": "sum", "nodes": [{"name": "one", "task": "part", "input": {"n": 1}}]}')
  await submit(page, 'Create it')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await world.fabric.schedule('weekly').describe()).toMatchObject({ starts: 'flow', task: 'sum' })
  visit.forgive(/status of 400/)
})

test('an administrator rotates the keys of a file and retires the one before', async () => {
  const visit = await visitAs('admin', 'keys')
  const { page } = visit
  await page.getByRole('row', { name: /signs/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Retire' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Rotate' }).click()
  await submit(page, 'Rotate the keys')
  await page.getByRole('button', { name: 'Retire' }).click()
  await page.getByLabel('Reason').fill('it was in a log')
  await submit(page, 'Retire it')
  await page.getByRole('row', { name: /verifies only/ }).waitFor({ state: 'detached' })
  expect(await page.getByRole('row', { name: /signs/ }).count()).toBe(1)
  await visit.go('Audit')
  await page.getByRole('row', { name: /retire key.*it was in a log.*done/ }).waitFor()
})

test('a viewer is offered no form, and a screen that the role may not read names it', async () => {
  const visit = await visitAs('viewer', 'budgets')
  const { page } = visit
  await visit.go('Schedules')
  await page.getByText('nightly').first().waitFor()
  expect(await page.locator('main').getByRole('button').count()).toBe(0)
  for (const screen of ['Keys', 'Audit']) {
    await visit.go(screen)
    await page.getByText('Your role does not permit this.').waitFor()
  }
  visit.forgive(/status of 403/)
})
