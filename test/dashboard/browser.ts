/** A real Chromium, started once for a test file, with a profile of its own. */
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { findChromium } from '../servers/find-program.ts'

/** Chromium refuses to sandbox a process of root. */
const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []

export async function startBrowser(): Promise<Browser> {
  const executablePath = await findChromium()
  if (executablePath === undefined) throw new Error('This machine has no chromium. "npm test" installs it on Debian.')
  return await chromium.launch({ executablePath, args: [...asRoot, '--disable-gpu'] })
}
