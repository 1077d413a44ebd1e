/** The hooks of React in a real Chromium, against a real server, with the read token of a page. */
import { fileURLToPath } from 'node:url'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { build } from 'vite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Browser, Page, Request } from 'playwright-core'
import { z } from 'zod'
import { task } from '../../src/contract.ts'
import { KeyRing, signal } from '../../src/client/index.ts'
import { connect } from '../../src/http.ts'
import { useExecution, useFrames, useSummary } from '../../src/react.ts'
import { byRole, served } from '../http/served.ts'
import type { Served } from '../http/served.ts'
import { startBrowser } from './browser.ts'

/** Minified, before compression: the hooks alone, beside the client of `flowfabric/http` and React. */
const HOOKS_BYTES_MAX = 6_000

let browser: Browser
let program = ''
beforeAll(async () => {
  browser = await startBrowser()
  program = await bundled('./hooks-page.ts', [])
})
afterAll(() => browser.close())

const answer = task('agent.answer', {
  output: z.string(),
  frames: { token: z.string() },
  signals: { more: z.string() },
})
const answerHandler = answer.handle(async (_input, ctx) => {
  await ctx.summary.patch({ stage: 'begun' })
  await ctx.step('first', async (s) => {
    await s.frames.token('a')
    await s.frames.token('b')
  })
  await ctx.waitFor('more', signal('more'))
  await ctx.summary.patch({ stage: 'resumed' })
  await ctx.step('second', (s) => s.frames.token('c'))
  await ctx.waitFor('last', signal('more'))
  return 'done'
})

async function bundled(file: string, external: readonly string[]): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"development"' },
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: fileURLToPath(new URL(file, import.meta.url)),
        preserveEntrySignatures: 'strict',
        external: (id) => external.some((each) => id.endsWith(each)),
      },
    },
  })
  const [chunk] = [built].flat().flatMap((each) => ('output' in each ? each.output : []))
  if (chunk?.type !== 'chunk') throw new Error('The bundle has no code.')
  return chunk.code
}

interface Shown {
  readonly state?: string
  readonly result?: string
  readonly tokens: readonly string[]
  readonly sequences: readonly number[]
  readonly stage?: string
  readonly status: string
  readonly error?: string
}

/** Opens the page of an execution, on the origin of the server. Counts the streams that it has open. */
async function openPage(found: Served, id: string, token: string): Promise<Page & { readonly streams: Set<Request> }> {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  const streams = new Set<Request>()
  const forget = (request: Request) => streams.delete(request)
  page.on('request', (request) => {
    if (/\/(live|events)(\?|$)/.test(request.url())) streams.add(request)
  })
  page.on('requestfinished', forget)
  page.on('requestfailed', forget)
  await page.route(`${found.url}/hooks/*`, async (route) => {
    const isProgram = route.request().url().endsWith('.js')
    await route.fulfill({
      contentType: isProgram ? 'text/javascript' : 'text/html',
      body: isProgram ? program : '<div id="root"></div><script type="module" src="page.js"></script>',
    })
  })
  await page.goto(`${found.url}/hooks/#${encodeURIComponent(JSON.stringify({ id, token }))}`)
  return Object.assign(page, { streams })
}

async function shownOn(page: Page): Promise<Shown> {
  return JSON.parse((await page.locator('#shown').textContent()) ?? '{}') as Shown
}

async function begun() {
  const found = await served({ authenticate: byRole, fabric: { keys: KeyRing.begin(Date.now()) } })
  await found.fabric.work([answerHandler])
  const execution = await found.fabric.submit(answer, undefined)
  const { token } = await found.fabric.readToken(execution.id, { expires: '15m' })
  return { found, execution, token }
}

test('a page follows state, frames and summary to the end, with a read token', async () => {
  const { found, execution, token } = await begun()
  const page = await openPage(found, execution.id, token)

  await expect
    .poll(() => shownOn(page), { timeout: 60_000 })
    .toMatchObject({ state: 'suspended', tokens: ['a', 'b'], stage: 'begun', status: 'live' })
  await execution.signal('more', 'x')
  await expect
    .poll(() => shownOn(page), { timeout: 60_000 })
    .toMatchObject({ tokens: ['a', 'b', 'c'], stage: 'resumed' })
  await execution.signal('more', 'y')

  await expect
    .poll(() => shownOn(page), { timeout: 60_000 })
    .toMatchObject({ state: 'completed', result: 'done', sequences: [1, 2, 3], status: 'ended' })
  await expect.poll(() => page.streams.size, { timeout: 60_000 }).toBe(0)
})

test('an unmounted component closes its streams, and a page that was cut off continues without a repetition', async () => {
  const { found, execution, token } = await begun()
  const page = await openPage(found, execution.id, token)
  await expect.poll(() => shownOn(page), { timeout: 60_000 }).toMatchObject({ tokens: ['a', 'b'] })
  await expect.poll(() => page.streams.size, { timeout: 60_000 }).toBe(3)

  await page.getByText('toggle').click()
  await expect.poll(() => page.streams.size, { timeout: 60_000 }).toBe(0)
  await page.getByText('toggle').click()
  await expect.poll(() => shownOn(page), { timeout: 60_000 }).toMatchObject({ tokens: ['a', 'b'] })
  await page.context().setOffline(true)
  await execution.signal('more', 'x')
  await page.context().setOffline(false)

  await expect
    .poll(() => shownOn(page), { timeout: 60_000 })
    .toMatchObject({ tokens: ['a', 'b', 'c'], sequences: [1, 2, 3], stage: 'resumed' })
})

test('what the server refuses is shown, and nothing is sent again', async () => {
  const { found, execution } = await begun()
  const page = await openPage(found, execution.id, 'nobody')

  await expect
    .poll(() => shownOn(page), { timeout: 60_000 })
    .toMatchObject({ status: 'failed', error: 'unauthorized', tokens: [] })
})

test('a server renders the beginning and sends nothing, and without an id nothing is followed', () => {
  const api = connect('http://127.0.0.1:9')
  const Page = ({ id }: { readonly id: string | undefined }) => {
    const seen = [useExecution(api, id), useFrames(api, id), useSummary(api, id)]
    return seen.map(({ status }) => status).join(' ')
  }

  expect(renderToString(createElement(Page, { id: 'a' }))).toBe('connecting connecting connecting')
  expect(renderToString(createElement(Page, { id: undefined }))).toBe('idle idle idle')
})

test('the hooks are small', async () => {
  const code = await bundled('../../src/react.ts', ['react', '/kernel/engine-error.ts'])

  expect(code.length).toBeLessThan(HOOKS_BYTES_MAX)
  expect(/["'`]node:|\bBuffer\.|\bprocess\./.exec(code)).toBeNull()
})
