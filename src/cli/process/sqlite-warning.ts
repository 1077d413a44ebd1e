/**
 * Suppresses the warning of Node that `node:sqlite` is experimental, which the user of a command cannot act on. Passes on
 * every other warning. Programs that use the library still get it.
 */
export function silenceSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process) as (...parts: unknown[]) => void
  process.emitWarning = (...parts: unknown[]) => {
    if (!isAboutSqlite(parts)) emitWarning(...parts)
  }
}

function isAboutSqlite([warning, options]: readonly unknown[]): boolean {
  const type = typeof options === 'object' && options !== null && 'type' in options ? options.type : options
  return type === 'ExperimentalWarning' && String(warning).includes('SQLite')
}
