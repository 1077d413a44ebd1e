/**
 * A graph that grows while it runs: a crawler adds a node for every page that it finds, and waits for them without
 * occupying a worker. After each wait its handler runs again from its first line; adding a node is idempotent.
 *
 *   npx node examples/crawl.ts [location of a store]
 */
import { flow, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

/** Simulates the web, with circular links. */
const site: Readonly<Record<string, readonly string[]>> = {
  '/': ['/bees', '/honey'],
  '/bees': ['/', '/bees/dance'],
  '/bees/dance': ['/bees', '/sources'],
  '/honey': ['/', '/sources'],
  '/sources': [],
}

interface Page {
  readonly url: string
  readonly links: readonly string[]
}

const fetchPage = task<{ url: string }, Page>('page.fetch', { retry: { attempts: 3 } })
const crawl = task<{ start: string }, readonly string[]>('crawl')

const crawlSite = flow('crawl-site', (f, input: { start: string }) => f.node('crawl', crawl, { input }))

const fetchHandler = fetchPage.handle(({ url }) => {
  console.log(`fetched ${url}`)
  return { url, links: site[url] ?? [] }
})

const crawlHandler = crawl.handle(async ({ start }, ctx) => {
  const known = new Set([start])
  let found = [start]
  while (found.length > 0) {
    await Promise.all(found.map((url) => ctx.flow.add(`page:${url}`, fetchPage, { url })))
    // Unless all of them have been fetched, this run ends here.
    const pages = Object.values(await ctx.flow.wait()) as Page[]
    found = [...new Set(pages.flatMap(({ links }) => links))].filter((url) => !known.has(url))
    for (const url of found) known.add(url)
  }
  return [...known].sort()
})

await using opened = await openFabric()
const { fabric } = opened
// One slot is enough: a waiting crawler occupies none.
await fabric.work([fetchHandler, crawlHandler], { concurrency: 1 })

const handle = await fabric.submit(crawlSite, { start: '/' })
const pages = await handle.result()
console.log(`${pages.length} pages: ${pages.join(' ')}`)
const { memberCount, edgeCount } = await handle.describe()
console.log(`the flow has ${memberCount} members and ${edgeCount} edges`)
