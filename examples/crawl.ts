/**
 * A crawler that fetches every page of a site: a child for every page that it finds, and a wait for all of one depth at a time. It
 * occupies no worker while it waits. After each wait its handler runs again from its first line, and gets the recorded pages.
 *
 *   npx node examples/crawl.ts [location of a store]
 */
import { task } from '../src/index.ts'
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

const fetchHandler = fetchPage.handle(({ url }) => {
  console.log(`fetched ${url}`)
  return { url, links: site[url] ?? [] }
})

const crawlHandler = crawl.handle(async ({ start }, ctx) => {
  const known = new Set([start])
  let found = [start]
  while (found.length > 0) {
    // Unless all of them have been fetched, this run ends here.
    const pages = await ctx.all(found.map((url) => ctx.spawn(`page:${url}`, fetchPage, { url })))
    found = [...new Set(pages.flatMap(({ links }) => links))].filter((url) => !known.has(url))
    for (const url of found) known.add(url)
  }
  return [...known].sort()
})

await using opened = await openFabric()
const { fabric } = opened
// One slot is enough: a waiting crawler occupies none.
await fabric.work([fetchHandler, crawlHandler], { concurrency: 1 })

const execution = await fabric.submit(crawl, { start: '/' })
const pages = await execution.result()
console.log(`${pages.length} pages: ${pages.join(' ')}`)
let childCount = 0
for await (const { outcome } of execution.children()) if (outcome === 'completed') childCount += 1
console.log(`the crawler has ${childCount} children`)
