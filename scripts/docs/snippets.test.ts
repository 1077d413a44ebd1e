import { expect, test } from 'vitest'
import { allSnippets, checkSnippets, snippetsOf } from './snippets.ts'

const FENCE = '```'

/** The compiler reads all sources of the package. */
const LIMIT_MS = 240_000

test(
  'every snippet of the documentation compiles, and mistakes are reported with their lines',
  { timeout: LIMIT_MS },
  () => {
    const snippets = allSnippets()
    const page = [
      'A page.',
      `${FENCE}ts`,
      "const greet = task('greet', { retrys: 3 })",
      FENCE,
      `${FENCE}ts`,
      'const mine = ownFunction()',
      'await fabric.sumbit(greet, mine)',
      'const { statte } = await fabric.describe(mine)',
      FENCE,
      `${FENCE}ts no-check`,
      'this is not TypeScript',
      FENCE,
    ].join('\n')

    expect(snippets.length).toBeGreaterThan(100)
    expect(checkSnippets([...snippets, ...snippetsOf('planted.md', page)])).toEqual([
      expect.stringMatching(/^planted\.md:3: .*retrys/),
      expect.stringMatching(/^planted\.md:7: .*sumbit/),
      expect.stringMatching(/^planted\.md:8: .*statte/),
    ])
  },
)
