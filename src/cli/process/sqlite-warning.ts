/**
 * Node warns once per process that `node:sqlite` is experimental. Whoever types a command can do nothing about it, so the
 * command keeps this one warning back and passes on every other. Programs that use the library see it as Node shows it.
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
