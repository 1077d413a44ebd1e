/** Runs all static checks, two at a time, and shows what those that failed have to say. */
import { captureScript, seconds } from './run.ts'

const checks = ['lint', 'types', 'deadcode', 'imports', 'format', 'docs:check']
const PARALLEL = 2

/** Answers the names of the checks that failed. */
export async function runChecks(): Promise<string[]> {
  const waiting = [...checks]
  const failed: string[] = []

  async function work(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const startedAt = performance.now()
      const { code, output } = await captureScript(name)
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds(startedAt)})`)
      if (code === 0) continue
      failed.push(name)
      console.log(output)
    }
  }

  await Promise.all(Array.from({ length: PARALLEL }, work))
  return failed
}

if (import.meta.main) {
  const failed = await runChecks()
  if (failed.length > 0) {
    console.log(`Failed: ${failed.join(', ')}`)
    process.exitCode = 1
  }
}
