import { Command } from 'commander'
import { migrateStore } from '../../stores/migrate-store.ts'
import type { MigrateStoreResult } from '../../stores/migrate-store.ts'
import { examples } from '../help.ts'
import type { Shell } from '../shell.ts'

interface MigrateFlags {
  readonly dryRun?: boolean
}

export function migrateCommand(shell: Shell): Command {
  return new Command('migrate')
    .description(
      "make a store's place ready for this version: the tables of a Postgres store, made or brought up to date",
    )
    .argument('[location]', 'where the store is, instead of --store')
    .option('--dry-run', 'print the SQL that would be run, and run nothing')
    .addHelpText('after', examples(['migrate postgres://localhost/shop', 'migrate --dry-run']))
    .action(async (location: string | undefined, flags: MigrateFlags, command: Command) => {
      const place = await shell.place(command, { location })
      const dryRun = flags.dryRun === true
      const result = await migrateStore(place.location, { dryRun, runtime: shell.runtime, ...place.access })
      await place.output.answer(result, () => (dryRun ? planText(result) : resultText(result)))
    })
}

function resultText(result: MigrateStoreResult): string {
  switch (result.kind) {
    case 'ready_when_opened':
      return 'This kind of store sets itself up when it is opened, as it has been now: there is nothing else to migrate.'
    case 'migrated':
    case 'pending':
      return [...result.steps.map(({ title }) => title), `Schema version ${result.from} has become ${result.to}.`].join(
        '\n',
      )
    case 'up_to_date':
      return `The store has schema version ${result.to} already: there is nothing to migrate.`
  }
}

/** As a script: whoever has to look at it first can then have it run by somebody else. */
function planText(result: MigrateStoreResult): string {
  switch (result.kind) {
    case 'ready_when_opened':
      return 'This kind of store sets itself up when it is opened: there is nothing to migrate.'
    case 'up_to_date':
      return resultText(result)
    case 'migrated':
    case 'pending': {
      const steps = result.steps.map(({ title, sql }) => `-- ${title}\n${sql}`)
      return [`-- From schema version ${result.from} to ${result.to}\nbegin;`, ...steps, 'commit;'].join('\n\n')
    }
  }
}
