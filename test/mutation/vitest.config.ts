/** The test process of `npm run mutate`: its sources contain all mutants, and its runner switches them on one after the other. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Plugin } from 'vite'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'
import { defineConfig } from 'vitest/config'
import { instrument } from '../../scripts/mutation/instrument.ts'
import { mutantsOf } from '../../scripts/mutation/mutants.ts'
import { readPlan } from './plan.ts'

const root = path.join(import.meta.dirname, '../..')
const plan = readPlan()

/** Tests that time out wait longer than any of them takes: the runner has a shorter limit of its own. */
const TEST_TIMEOUT_MS = 60_000

function withMutants(): Plugin {
  const instrumented = new Map<string, string>()
  let count = 0
  for (const source of plan.sources) {
    const file = path.join(root, source)
    const text = readFileSync(file, 'utf8')
    const mutants = mutantsOf(source, text)
    instrumented.set(file, instrument(source, text, mutants, count))
    count += mutants.length
  }
  if (count !== plan.mutantCount) throw new Error('The sources have changed since this run began: start it again.')
  return {
    name: 'mutants',
    enforce: 'pre',
    transform: (_, id) => {
      const code = instrumented.get(id.split('?')[0] ?? id)
      return code === undefined ? undefined : { code, map: null }
    },
  }
}

/** Runs the files in the order of the plan: the most specific tests first. */
class PlannedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => plan.testFiles.indexOf(path.relative(root, moduleId))
    return files.sort((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  root,
  plugins: [withMutants()],
  test: {
    environment: 'node',
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    include: [...plan.testFiles],
    exclude: [],
    runner: path.join(import.meta.dirname, 'runner.ts'),
    setupFiles: [path.join(root, 'test/each-file.ts'), path.join(import.meta.dirname, 'same-values.ts')],
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    dangerouslyIgnoreUnhandledErrors: true,
    passWithNoTests: true,
    reporters: [['default', { summary: false }]],
    sequence: { sequencer: PlannedOrder },
  },
})
