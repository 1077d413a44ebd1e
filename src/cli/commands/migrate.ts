import { Command, Option } from 'commander'
import type { TableComparison } from '../../stores/open/compare-tables.ts'
import type { MigrateStoreResult, MovedCounts } from '../../stores/open/migrate-store.ts'
import { examples } from '../args/help.ts'
import { exitCodes } from '../process/exit-codes.ts'
import { levelText } from '../text/level-text.ts'
import { differenceText } from '../text/table-difference-text.ts'
import type { Place, Shell } from '../session/shell.ts'

interface MigrateFlags {
  readonly check?: boolean
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
    .addOption(
      new Option(
        '--check',
        'compare the tables of a store with those that the migrations make, and change nothing; exits with 1 if they differ',
      ).conflicts(['dryRun', 'force']),
    )
    .option('--force', 'migrate a Valkey store although a program of another version may still be running')
    .addHelpText(
      'after',
      examples([
        'migrate postgres://localhost/shop',
        'migrate --dry-run',
        'migrate --check --json',
        'migrate valkey://localhost:6379 --force',
      ]),
    )
    .action(async (location: string | undefined, flags: MigrateFlags, command: Command) => {
      const place = shell.place(command, { location })
      if (flags.check === true) {
        await checkTables(shell, place)
        return
      }
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
        log: shell.log(place),
        ...place.access,
      })
      await place.output.answer(result, () => withLevel(dryRun ? planText(result) : resultText(result), result))
    })
}

async function checkTables(shell: Shell, { parsed, access, output }: Place): Promise<void> {
  const { compareTables } = await import('../../stores/open/compare-tables.ts')
  const comparison = await compareTables(parsed, { runtime: shell.runtime, postgres: access.postgres })
  await output.answer(comparison, () => comparisonText(comparison))
  if (comparison.kind === 'different' || comparison.kind === 'not_permitted') shell.exitCode = exitCodes.failed
}

function comparisonText(comparison: TableComparison): string {
  switch (comparison.kind) {
    case 'no_tables':
      return 'A store of this kind has no tables, so there is nothing to compare. "flowfabric doctor" checks its indexes.'
    case 'not_set_up':
      return 'There is no store yet, so there is nothing to compare.'
    case 'not_permitted':
      return `The tables were not compared, because the user may not create temporary tables: ${comparison.message}. Run this as the owner.`
    case 'same':
      return `The tables are those that the migrations make, up to schema version ${comparison.version}.`
    case 'different':
      return [
        `The tables differ from those that the migrations make, up to schema version ${comparison.version}.`,
        ...comparison.differences.map(differenceText),
      ].join('\n\n')
  }
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
