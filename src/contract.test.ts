import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, test } from 'vitest'
import { errorCatalogue } from './kernel/errors.ts'

const ENTRY = fileURLToPath(new URL('contract.ts', import.meta.url))

/** Minified, before compression, without the texts of errors, of which there is one for each code. */
const CONTRACT_BYTES_MAX = 37_000

async function bundleForBrowser(): Promise<{ readonly code: string; readonly imports: readonly string[] }> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: { input: ENTRY, preserveEntrySignatures: 'strict', external: /^node:/ },
    },
  })
  const [chunk] = [built].flat().flatMap((each) => ('output' in each ? each.output : []))
  if (chunk?.type !== 'chunk') throw new Error('The bundle has no code.')
  return { code: chunk.code, imports: [...chunk.imports, ...chunk.dynamicImports] }
}

test('a browser can import the contract: it is small and uses nothing of Node', async () => {
  const { code, imports } = await bundleForBrowser()
  expect(imports).toEqual([])
  expect(/["'`]node:|\bBuffer\.|\bprocess\./.exec(code)).toBeNull()
  const texts = Object.values(errorCatalogue).flatMap(({ text, advice }) => [text, advice])
  expect(code.length - texts.join('').length).toBeLessThan(CONTRACT_BYTES_MAX)
})

test('a task, a flow and a wait are defined with the contract alone', async () => {
  const { allOf, approval, flow, task, when } = await import('./contract.ts')
  const build = task<{ sha: string }, string>('build', { retry: { attempts: 3 } })
  const deploy = task<undefined, string>('deploy')
  const release = flow('release', (f, input: { sha: string }) => {
    const image = f.node('build', build, { input })
    return f.node('deploy', deploy, { after: allOf({ image }) })
  })
  expect(release.draw({ sha: 'f00' }).nodes.map(({ name }) => name)).toEqual(['build', 'deploy'])
  expect(() => when.every([])).toThrow('it has no parts')
  expect(() => approval({ need: 2, of: ['ada'] })).toThrow('names only 1')
})
