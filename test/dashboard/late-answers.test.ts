/** What a person has opened stays as it is, however late pages and answers arrive. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import { startBrowser } from './browser.ts'
import { Visit } from './visit.ts'
import { World } from './world.ts'

let browser: Browser
let world: World

beforeAll(async () => {
  ;[browser, world] = await Promise.all([startBrowser(), World.start()])
  await world.fabric.webhooks.define('crm', { url: `${world.receiver.origin}/hooks`, allowPrivate: true })
})

afterAll(async () => {
  await Promise.all([browser.close(), world.close()])
})

test('a link replaces its screen at once, so that no dialog opens on a screen that is about to go', async () => {
  const visit = await Visit.begin(browser, world)
  const { page } = visit
  let release: (() => void) | undefined
  const isReleased = new Promise<void>((resolve) => (release = resolve))
  await page.route(/\/ui\/assets\/webhook-[^/]*\.js$/, async (route) => {
    await isReleased
    await route.continue()
  })
  await visit.open('webhooks')
  const rotate = page.getByRole('button', { name: 'Rotate secret' })
  await rotate.waitFor()
  await page.getByRole('link', { name: 'crm' }).click()
  await rotate.waitFor({ state: 'detached' })
  await page.locator('main').getByRole('status').waitFor()
  release?.()
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  await rotate.waitFor()
})
