import { Command } from 'commander'
import { diagnose } from '../doctor/diagnosis.ts'
import type { Diagnosis, Finding, PartitionDiagnosis } from '../doctor/diagnosis.ts'
import { machineFindings } from '../doctor/machine-check.ts'
import { poolerFindings } from '../doctor/pooler-check.ts'
import { tableFindings } from '../doctor/tables-check.ts'
import { exitCodes } from '../process/exit-codes.ts'
import { examples } from '../args/help.ts'
import { printable } from '../text/printable.ts'
import type { Output, Style } from '../text/output.ts'
import type { Shell } from '../session/shell.ts'
import { table } from '../text/table.ts'
import { isoTime, timeText } from '../text/time-text.ts'
import { packageVersion } from '../../runtime/index.ts'

/** With more partitions, only a total and the partitions with findings are shown. */
const PARTITION_ROWS_MAX = 8

interface DoctorFlags {
  readonly repair?: boolean
}

export function doctorCommand(shell: Shell): Command {
  return new Command('doctor')
    .description(
      'check settings and files of this machine, and the store: version, level, tables, durability, backlog, indexes, clock; exits with 1 if there is a problem',
    )
    .option(
      '--repair',
      'check all indexes and repair entries that contradict the records; without it nothing is written',
    )
    .addHelpText('after', examples(['doctor', 'doctor --json | jq .findings']))
    .action(async (flags: DoctorFlags, command: Command) => {
      const opening = { needsStore: 'doctor looks into a store' }
      await shell.withFabric(command, opening, async ({ fabric, output, configuration, parsed, access, keys }) => {
        const found = await diagnose(fabric, { repair: flags.repair === true })
        const machine = machineFindings({
          configuration,
          location: parsed,
          keysFile: keys.file,
          level: fabric.store.level,
        })
        const { compareTables } = await import('../../stores/open/compare-tables.ts')
        const tables = await compareTables(parsed, { runtime: shell.runtime, postgres: access.postgres })
        const { findPoolerOf } = await import('../../stores/open/find-pooler.ts')
        const pooler = poolerFindings(await findPoolerOf(parsed, access.postgres))
        const findings = [...machine, ...tableFindings(tables), ...pooler, ...found.findings]
        const healthy = findings.every(({ verdict }) => verdict !== 'problem')
        const diagnosis = { ...found, findings, healthy }
        const program = { version: packageVersion(), node: process.versions.node }
        await output.answer({ program, ...diagnosis }, () => diagnosisText(diagnosis, program, output))
        if (!diagnosis.healthy) shell.exitCode = exitCodes.failed
      })
    })
}

function diagnosisText(diagnosis: Diagnosis, program: { version: string; node: string }, output: Output): string {
  const { store, settings, clock, findings } = diagnosis
  const tags = settings.indexedTags.length === 0 ? 'none' : settings.indexedTags.join(', ')
  const facts = [
    ['program', `flowfabric ${program.version} on Node ${program.node}`],
    ['store', `${store.kind} ${store.version} at ${printable(store.location)}`],
    ['durability', store.durability],
    ['partitions', String(settings.executionPartitions)],
    ['indexed tags', tags],
    ['clock', isoTime(clock.storeAt)],
  ].map(([name = '', value = '']) => [output.style('dim', name), value])
  const verdicts = findings.map((finding) => [verdictText(finding, output), finding.check, finding.text])
  const conclusion = diagnosis.healthy
    ? output.style('green', 'Nothing is wrong.')
    : output.style('red', 'Something is wrong.')
  return [table(facts), partitionsText(diagnosis, output), table(verdicts), conclusion].join('\n\n')
}

function partitionsText({ partitions, findings, clock }: Diagnosis, output: Output): string {
  const header = [
    'PARTITION',
    'EXECUTIONS',
    'FLOWS',
    'EVENTS',
    'DUE NOW',
    'NEXT DUE',
    'PENDING CANCELS',
    'TO PURGE',
  ].map((name) => output.style('dim', name))
  const troubled = new Set(findings.flatMap((finding) => finding.partitions))
  const areAllShown = partitions.length <= PARTITION_ROWS_MAX
  const shown = areAllShown ? partitions : partitions.filter(({ partition }) => troubled.has(partition))
  const rows = shown.slice(0, PARTITION_ROWS_MAX).map((partition) => partitionRow(partition, clock.storeAt))
  if (partitions.length > 1) rows.push(totalRow(partitions, clock.storeAt))
  const text = table([header, ...rows], { alignRight: [1, 2, 3, 4, 6, 7] })
  return areAllShown ? text : `${text}\n${output.style('dim', 'With --json every partition is shown.')}`
}

function totalRow(partitions: readonly PartitionDiagnosis[], now: number): string[] {
  const sum = (count: (partition: PartitionDiagnosis) => number) =>
    String(partitions.reduce((total, partition) => total + count(partition), 0))
  const nextAt = Math.min(...partitions.map(({ due }) => due.nextAt ?? Infinity))
  return [
    `all ${partitions.length}`,
    sum(({ executions }) => executions),
    sum(({ flows }) => flows),
    sum(({ events }) => events.last - events.first + 1),
    sum(({ due }) => due.count),
    nextAt === Infinity ? 'none' : timeText(nextAt, now),
    sum(pendingCancels),
    sum(({ purge }) => purge.count),
  ]
}

/** The number of groups and flows with pending cancels. */
function pendingCancels({ siblingCancels, flowCancels }: PartitionDiagnosis): number {
  return siblingCancels.count + flowCancels.count
}

function partitionRow(partition: PartitionDiagnosis, now: number): string[] {
  const { events, due, purge } = partition
  return [
    partition.partition,
    String(partition.executions),
    String(partition.flows),
    events.last < events.first ? 'none' : `${events.first} to ${events.last}`,
    String(due.count),
    due.nextAt === undefined ? 'none' : timeText(due.nextAt, now),
    String(pendingCancels(partition)),
    String(purge.count),
  ]
}

const verdictStyles: Readonly<Record<Finding['verdict'], Style>> = { ok: 'green', warning: 'yellow', problem: 'red' }

function verdictText({ verdict }: Finding, output: Output): string {
  return output.style(verdictStyles[verdict], verdict)
}
