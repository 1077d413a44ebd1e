/**
 * Builds the site of the documentation from README.md and docs into a folder, with llms.txt and llms-full.txt.
 *
 *   node scripts/build-site.ts [folder]      writes the site, to `site` unless given
 *   node scripts/build-site.ts --check       checks links alone
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { brokenLinks, imagesOf, readPages } from './site/pages.ts'
import { llmsFull, llmsIndex } from './site/llms.ts'
import { pageHtml } from './site/page-html.ts'
import { root } from './run.ts'

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const pages = readPages(root)
const broken = brokenLinks(root, pages)
for (const each of broken) console.error(each)
if (broken.length > 0) process.exitCode = 1
else if (!values.check) {
  const folder = path.resolve(positionals[0] ?? 'site')
  rmSync(folder, { recursive: true, force: true })
  const files = new Map(pages.map((page) => [page.address, pageHtml(page, pages)]))
  // The addresses of llms.txt are those of the sources.
  for (const { source, markdown } of pages) files.set(source, markdown)
  files.set('llms.txt', llmsIndex(pages)).set('llms-full.txt', llmsFull(pages))
  for (const [name, text] of files) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const images = imagesOf(pages)
  for (const image of images) cpSync(path.join(root, image), path.join(folder, image))
  console.log(`${files.size + images.length} files written to ${folder}`)
}
