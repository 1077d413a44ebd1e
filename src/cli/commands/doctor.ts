import { Command } from 'commander'
import { diagnose } from '../diagnosis.ts'
import type { Diagnosis, Finding, PartitionDiagnosis } from '../diagnosis.ts'
import { exitCodes } from '../exit-codes.ts'
import { examples } from '../help.ts'
import { printable } from '../output.ts'
import type { Output, Style } from '../output.ts'
import type { Shell } from '../shell.ts'
import { table } from '../table.ts'
import { isoTime, timeText } from '../time-text.ts'
import { packageVersion } from '../version.ts'

interface DoctorFlags {
  readonly repair?: boolean
}

export function doctorCommand(shell: Shell): Command {
  return new Command('doctor')
    .description(
      'look the store over: version, durability, settings, backlog, indexes, clock; exit 1 if something is wrong',
    )
    .option('--repair', 'walk all indexes and repair what contradicts the records; without it nothing is written')
    .addHelpText('after', examples(['doctor', 'doctor --json | jq .findings']))
    .action(async (flags: DoctorFlags, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const diagnosis = await diagnose(fabric, { repair: flags.repair === true })
        const program = { version: packageVersion(), node: process.versions.node }
        await output.answer({ program, ...diagnosis }, () => diagnosisText(diagnosis, program, output))
        if (!diagnosis.healthy) shell.exitCode = exitCodes.failed
      })
    })
}

function diagnosisText(diagnosis: Diagnosis, program: { version: string; node: string }, output: Output): string {
  const { store, settings, clock, partitions, findings } = diagnosis
  const tags = settings.indexedTags.length === 0 ? 'none' : settings.indexedTags.join(', ')
  const facts = [
    ['program', `flowfabric ${program.version} on Node ${program.node}`],
    ['store', `${store.kind} ${store.version} at ${printable(store.location)}`],
    ['durability', store.durability],
    ['partitions', String(settings.executionPartitions)],
    ['indexed tags', tags],
    ['clock', isoTime(clock.storeAt)],
  ].map(([name = '', value = '']) => [output.style('dim', name), value])
  const header = ['PARTITION', 'EXECUTIONS', 'EVENTS', 'DUE NOW', 'NEXT DUE', 'TO PURGE'].map((name) =>
    output.style('dim', name),
  )
  const rows = partitions.map((partition) => partitionRow(partition, clock.storeAt))
  const verdicts = findings.map((finding) => [verdictText(finding, output), finding.check, finding.text])
  const conclusion = diagnosis.healthy
    ? output.style('green', 'Nothing is wrong.')
    : output.style('red', 'Something is wrong.')
  return [table(facts), table([header, ...rows], { alignRight: [1, 2, 3, 5] }), table(verdicts), conclusion].join(
    '\n\n',
  )
}

function partitionRow(partition: PartitionDiagnosis, now: number): string[] {
  const { events, due, purge } = partition
  return [
    partition.partition,
    String(partition.executions),
    events.last < events.first ? 'none' : `${events.first} to ${events.last}`,
    String(due.count),
    due.nextAt === undefined ? 'none' : timeText(due.nextAt, now),
    String(purge.count),
  ]
}

const verdictStyles: Readonly<Record<Finding['verdict'], Style>> = { ok: 'green', warning: 'yellow', problem: 'red' }

function verdictText({ verdict }: Finding, output: Output): string {
  return output.style(verdictStyles[verdict], verdict)
}
