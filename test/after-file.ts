/**
 * What modules have to close behind every test file. Files of a suite share a process and its modules, and a hook of vitest that
 * a module sets holds only for the file that loaded the module first.
 */
const closers: (() => Promise<void>)[] = []

/** Runs after each test file from now on. What was noted last runs first. */
export function afterEachFile(close: () => Promise<void>): void {
  closers.unshift(close)
}

export async function closeBehindFile(): Promise<void> {
  for (const close of closers) await close()
}
