/** Starts the test files that take longest first, so that none of them runs alone at the end of its suite. */
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** Files that take far longer than others of their size. Vitest starts large files first where it knows no times. */
const LONG = [
  /table\..*test\.ts$/,
  /flow-limits\.test\.ts$/,
  /simulation\/explore.*\.test\.ts$/,
  /valkey\/migrate\.valkey\.test\.ts$/,
  /e2e\/examples\.test\.ts$/,
  /faults\/(cluster|processes)\..*test\.ts$/,
  /crash\/crash\.test\.ts$/,
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((pattern) => pattern.test(moduleId))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
