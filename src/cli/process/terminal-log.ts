/** A log on standard error for a terminal: one line an entry, or one JSON object with --json. */
import type { Log, LogFields, Runtime } from '../../runtime/index.ts'
import { logLevels } from '../config/settings.ts'
import { printableLines } from '../text/printable.ts'
import type { Output, Style } from '../text/output.ts'
import { isoTime } from '../text/time-text.ts'

type LogLevel = (typeof logLevels)[number]
type Level = Exclude<LogLevel, 'silent'>

const styles: Readonly<Record<Level, Style>> = { debug: 'dim', info: 'dim', warn: 'yellow', error: 'red' }

/** Prints entries of `least` and of more severe levels. */
export function terminalLog(output: Output, runtime: Runtime, least: LogLevel = 'info'): Log {
  const isShown = (level: Level) => logLevels.indexOf(level) >= logLevels.indexOf(least)
  const write = (level: Level) => (fields: LogFields, message: string) => {
    if (!isShown(level)) return
    const at = runtime.now()
    if (output.isJson) {
      output.problem(jsonText({ ...fields, level, at, message }) ?? jsonText({ level, at, message }) ?? '')
      return
    }
    const [time, word] = [output.styleProblem('dim', isoTime(at)), output.styleProblem(styles[level], level)]
    output.problem(`${time} ${word} ${lineText(fields, message)}`)
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** Formats a line. A stack comes last, on its own lines. */
function lineText({ stack, ...fields }: LogFields, message: string): string {
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : (jsonText(value) ?? String(value))}`)
  const line = [message, ...parts].join(' ')
  return printableLines(typeof stack === 'string' ? `${line}\n${stack}` : line)
}

/** Returns undefined for a value without JSON: handlers may log any value, and a log never throws. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
