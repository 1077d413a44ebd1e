/** What a person has opened stays as it is, however late pages and answers arrive. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBrowser } from './browser.ts'
import { Visit } from './visit.ts'
import { World, tasks } from './world.ts'

let browser: Browser
let world: World

beforeAll(async () => {
  ;[browser, world] = await Promise.all([startBrowser(), World.start()])
  await world.fabric.webhooks.define('crm', { url: `${world.receiver.origin}/hooks`, allowPrivate: true })
})

afterAll(async () => {
  await Promise.all([browser.close(), world.close()])
})

/** Holds requests back. Returns a function that lets them go. */
async function held(page: Page, url: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await page.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return () => resolve(undefined)
}

test('a link replaces its screen at once, so that no dialog opens on a screen that is about to go', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  const release = await held(page, /\/ui\/assets\/webhook-[^/]*\.js$/)
  await visit.open('webhooks')
  const rotate = page.getByRole('button', { name: 'Rotate secret' })
  await rotate.waitFor()
  await page.getByRole('link', { name: 'crm' }).click()
  await rotate.waitFor({ state: 'detached' })
  await page.locator('main').getByRole('status').waitFor()
  release()
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  await rotate.waitFor()
})

test('an open dialog asks the same when its state has changed in the meantime', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await visit.open('webhooks')
  await page.getByRole('button', { name: 'Disable' }).click()
  await world.fabric.webhooks.disable('crm', { reason: 'the receiver moves' })
  await page.getByText(/: the receiver moves/).waitFor()
  await page.getByRole('dialog', { name: 'Disable webhook “crm”?' }).waitFor()
  await page.getByRole('button', { name: 'Disable it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Enable' }).waitFor()
  expect((await world.fabric.webhooks.describe('crm')).state).toBe('disabled')
})

test('a dialog asks for nothing until it knows the fields of the value', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await world.fabric.submit(tasks.settle, {}, { id: 'payment:1' })
  await world.untilState('payment:1', 'suspended')
  const release = await held(page, /\/v1\/forms\?/)
  await visit.open('executions/payment:1')
  await page.getByRole('button', { name: 'Send signal' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('paid')
  await page.getByRole('button', { name: 'Send it', disabled: true }).waitFor()
  expect(await page.getByLabel('Value (optional)').count()).toBe(0)
  release()
  await page.getByLabel('Amount in cents').waitFor()
  await page.getByRole('button', { name: 'Send it', disabled: false }).waitFor()
})

test('a change before the page follows the log is shown once it does', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  await world.fabric.submit(tasks.settle, {}, { id: 'payment:2' })
  await world.untilState('payment:2', 'suspended')
  const release = await held(page, /\/v1\/events(\?|$)/)
  await visit.open('executions/payment:2')
  await page.getByText(/It waits for/).waitFor()
  await world.fabric.signal('payment:2', 'paid', { cents: 3 })
  await world.untilState('payment:2', 'completed')
  release()
  await page.getByRole('heading', { name: /completed/ }).waitFor()
})

test('a dialog that is submitted twice sends one request', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`)
  })
  await visit.open('limits')
  await page.getByRole('button', { name: 'Define a limit' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('bank')
  await page.getByLabel('Rate').fill('60')
  await page.evaluate(`{
    const form = document.querySelector('dialog form')
    form.requestSubmit()
    form.requestSubmit()
  }`)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText('60 per 1 min').waitFor()
  expect(sent).toEqual(['PUT /v1/limits/bank'])
})
