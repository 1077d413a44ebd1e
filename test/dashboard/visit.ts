/** One visit of a browser. It fails the test if a request leaves the server, or if the page reports an error. */
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { until } from '../servers/until.ts'
import { slowDown } from './slowness.ts'
import type { World } from './world.ts'

/** Far more than any step needs, also on a machine that is busy with something else. */
export const LIMIT_MS = 60_000

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

interface Axe {
  readonly axe: { readonly run: (options: object) => Promise<{ readonly violations: Violation[] }> }
}

export class Visit {
  readonly page: Page
  readonly #world: World
  readonly #troubles: string[] = []
  readonly #forgiven: RegExp[] = []
  /** The bytes of all files of the page, as they were sent. */
  assetBytes = 0

  private constructor(page: Page, world: World) {
    this.page = page
    this.#world = world
  }

  static async begin(browser: Browser, world: World, options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const visit = new Visit(await context.newPage(), world)
    visit.#watch()
    visit.page.setDefaultTimeout(LIMIT_MS)
    await slowDown(visit.page)
    onTestFinished(async () => {
      await context.close()
      const isForgiven = (trouble: string) => visit.#forgiven.some((pattern) => pattern.test(trouble))
      expect(visit.#troubles.filter((trouble) => !isForgiven(trouble))).toEqual([])
    })
    return visit
  }

  async open(path: string): Promise<void> {
    await this.page.goto(`${this.#world.url}/ui/${path}`)
  }

  /** Opens a screen by its link, and waits until it has replaced the one before. */
  async go(screen: string): Promise<void> {
    const screens = this.page.getByRole('navigation', { name: 'Screens' })
    await screens.getByRole('link', { name: screen, exact: true }).click()
    await this.page.getByRole('heading', { level: 1, name: screen, exact: true }).waitFor()
  }

  /** Waits until the content is not loading. */
  async loaded(): Promise<void> {
    // waitForFunction would evaluate a text in the page, which its policy forbids.
    const loading = this.page.locator('main .loading')
    await until('nothing loads', LIMIT_MS, async () => (await loading.count()) === 0 || undefined)
  }

  /** Ignores errors that a test causes on purpose, whenever they are reported. */
  forgive(pattern: RegExp): void {
    this.#forgiven.push(pattern)
  }

  /** The serious violations of accessibility on the page as it is now, in light and in dark colours. */
  async violations(): Promise<readonly string[]> {
    await this.page.evaluate(axe.source)
    const light = await this.#analyse({})
    await this.page.emulateMedia({ colorScheme: 'dark' })
    const dark = await this.#analyse({ runOnly: ['color-contrast'] })
    await this.page.emulateMedia({ colorScheme: 'light' })
    return [...light, ...dark.map((text) => `dark: ${text}`)]
  }

  async #analyse(options: object): Promise<readonly string[]> {
    const found = await this.page.evaluate(async (given) => {
      const inPage = globalThis as unknown as Axe
      return (await inPage.axe.run(given)).violations
    }, options)
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 2).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      )
  }

  #watch(): void {
    const { origin } = new URL(this.#world.url)
    this.page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) this.#troubles.push(`a request to ${url}`)
    })
    this.page.on('response', (response) => {
      if (response.url().includes('/ui/assets/')) {
        void response
          .request()
          .sizes()
          .then(
            ({ responseBodySize }) => (this.assetBytes += responseBodySize),
            () => undefined,
          )
      }
    })
    this.page.on('pageerror', (error) => this.#troubles.push(`an error: ${error.message}`))
    this.page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#troubles.push(`console: ${message.text()}`)
    })
  }
}
