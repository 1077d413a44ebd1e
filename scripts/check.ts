/** Runs all static checks, two at a time, and shows the output of those that failed. */
import { captureScript, seconds } from './run.ts'

const checks = ['lint', 'types', 'deadcode', 'imports', 'format', 'words', 'docs:check']
const PARALLEL = 2

/** Returns the names of the checks that failed. Prints the outcome of each check when it ends. */
export async function runChecks(print: (text: string) => void): Promise<string[]> {
  const waiting = [...checks]
  const failed: string[] = []

  async function work(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const startedAt = performance.now()
      const { code, output } = await captureScript(name)
      print(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds(startedAt)})`)
      if (code === 0) continue
      failed.push(name)
      print(output)
    }
  }

  await Promise.all(Array.from({ length: PARALLEL }, work))
  return failed
}

if (import.meta.main) {
  const failed = await runChecks(console.log)
  if (failed.length > 0) {
    console.log(`Failed: ${failed.join(', ')}`)
    process.exitCode = 1
  }
}
