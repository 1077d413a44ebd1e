import { Command } from 'commander'
import type { MigrateStoreResult, MovedCounts } from '../../stores/open/migrate-store.ts'
import { examples } from '../args/help.ts'
import { levelText } from '../text/level-text.ts'
import type { Shell } from '../session/shell.ts'
import { terminalLog } from '../process/terminal-log.ts'

interface MigrateFlags {
  readonly dryRun?: boolean
  readonly force?: boolean
}

/** How often the progress of a long migration is printed. */
const PROGRESS_EVERY_MS = 2_000

export function migrateCommand(shell: Shell): Command {
  return new Command('migrate')
    .description(
      'prepare a store for this version: create or update the tables of a Postgres store, or convert the data of a Valkey store; then raise the level of the store once every live process supports the next one',
    )
    .argument('[location]', 'where the store is, instead of --store')
    .option('--dry-run', 'print the SQL or the amount of data to convert, and change nothing')
    .option('--force', 'migrate a Valkey store although a program of another version may still be running')
    .addHelpText(
      'after',
      examples(['migrate postgres://localhost/shop', 'migrate --dry-run', 'migrate valkey://localhost:6379 --force']),
    )
    .action(async (location: string | undefined, flags: MigrateFlags, command: Command) => {
      const place = await shell.place(command, { location })
      const dryRun = flags.dryRun === true
      const { runtime } = shell
      let printedAt = runtime.now()
      const onProgress = (moved: MovedCounts, total: MovedCounts) => {
        if (runtime.now() - printedAt < PROGRESS_EVERY_MS) return
        printedAt = runtime.now()
        place.output.remark(progressText(moved, total))
      }
      const { migrateStore } = await import('../../stores/open/migrate-store.ts')
      const result = await migrateStore(place.location, {
        dryRun,
        force: flags.force === true,
        runtime,
        onProgress,
        log: terminalLog(place.output, runtime),
        ...place.access,
      })
      await place.output.answer(result, () => withLevel(dryRun ? planText(result) : resultText(result), result))
    })
}

function progressText(moved: MovedCounts, total: MovedCounts): string {
  return `Moved ${moved.records} of about ${total.records} records and ${moved.events} of about ${total.events} events.`
}

function countsText({ records, indexes, blobs, events }: MovedCounts): string {
  return `${records} records, ${indexes} indexes, ${blobs} payloads and results, ${events} events`
}

function movedText(from: number, to: number, counts: MovedCounts): string {
  const damaged = `${counts.damaged} records or events could not be read and were moved as they are. Run "flowfabric doctor".`
  return [
    `Moved ${countsText(counts)}.`,
    ...(counts.damaged > 0 ? [damaged] : []),
    `Layout version ${from} has become ${to}.`,
  ].join('\n')
}

function withLevel(text: string, { level }: MigrateStoreResult): string {
  const added = level === undefined ? '' : levelText(level)
  return added === '' ? text : `${text}\n${added}`
}

function resultText(result: MigrateStoreResult): string {
  switch (result.kind) {
    case 'ready_when_opened':
      return 'This kind of store sets itself up when it is opened, as it has been now; no other migration is needed.'
    case 'migrated':
    case 'pending':
      if (result.counts !== undefined) return movedText(result.from, result.to, result.counts)
      return [...result.steps.map(({ title }) => title), `Schema version ${result.from} has become ${result.to}.`].join(
        '\n',
      )
    case 'up_to_date':
      return `The store has schema version ${result.to} already; no migration is needed.`
  }
}

/** Prints the plan as an SQL script, for review and for a run by a database administrator. */
function planText(result: MigrateStoreResult): string {
  switch (result.kind) {
    case 'ready_when_opened':
      return 'This kind of store sets itself up when it is opened; no migration is needed.'
    case 'up_to_date':
      return resultText(result)
    case 'migrated':
    case 'pending': {
      if (result.counts !== undefined) {
        return `Layout version ${result.from} would become ${result.to}: ${countsText(result.counts)} to move.`
      }
      const steps = result.steps.map(({ title, sql }) => `-- ${title}\n${sql}`)
      return [`-- From schema version ${result.from} to ${result.to}\nbegin;`, ...steps, 'commit;'].join('\n\n')
    }
  }
}
