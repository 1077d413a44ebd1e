/** Runs all static checks, two at a time, and shows the output of those that failed. */
import { captureScript, seconds } from './run.ts'

const checks = ['lint', 'types', 'deadcode', 'imports', 'format', 'docs:check']
const PARALLEL = 2

export interface CheckResult {
  /** The names of the checks that failed. */
  readonly failed: readonly string[]
  readonly output: string
}

export async function runChecks(): Promise<CheckResult> {
  const waiting = [...checks]
  const failed: string[] = []
  const lines: string[] = []

  async function work(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const startedAt = performance.now()
      const { code, output } = await captureScript(name)
      lines.push(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds(startedAt)})`)
      if (code === 0) continue
      failed.push(name)
      lines.push(output)
    }
  }

  await Promise.all(Array.from({ length: PARALLEL }, work))
  return { failed, output: lines.join('\n') }
}

if (import.meta.main) {
  const { failed, output } = await runChecks()
  console.log(output)
  if (failed.length > 0) {
    console.log(`Failed: ${failed.join(', ')}`)
    process.exitCode = 1
  }
}
