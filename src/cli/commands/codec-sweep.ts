/** `flowfabric codec-sweep`: removes offloaded values whose execution or flow does not exist any more. */
import { Command } from 'commander'
import type { SweepReport } from '../../codec/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { parseDurationFlag } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { bucketFrom } from '../session/codec-access.ts'
import type { Shell } from '../session/shell.ts'

interface CodecSweepFlags {
  readonly dryRun?: boolean
  readonly minAge?: string
}

/** How often the progress of a long sweep is printed. */
const PROGRESS_EVERY_MS = 2_000

export function codecSweepCommand(shell: Shell): Command {
  return new Command('codec-sweep')
    .description(
      'remove offloaded values whose execution or flow does not exist any more, from the bucket of the settings',
    )
    .option('--dry-run', 'count them, and remove nothing')
    .option('--min-age <duration>', 'keep objects that were written in this time (default: 1d)')
    .addHelpText('after', examples(['codec-sweep --dry-run', 'codec-sweep --min-age 2d --json']))
    .action(async (flags: CodecSweepFlags, command: Command) => {
      const minAge = parseGiven(flags.minAge, (text) => parseDurationFlag(text, '--min-age'))
      const dryRun = flags.dryRun === true
      const opening = { needsStore: 'codec-sweep compares a bucket with all namespaces' }
      await shell.withFabric(command, opening, async ({ configuration, fabric, output }) => {
        const bucket = await bucketFrom(configuration)
        if (bucket === undefined) throw noBucket()
        let printedAt = shell.runtime.now()
        const onProgress = (report: SweepReport) => {
          if (shell.runtime.now() - printedAt < PROGRESS_EVERY_MS) return
          printedAt = shell.runtime.now()
          output.remark(sweepText(report, dryRun))
        }
        const report = await fabric.sweepOffloaded(bucket, { dryRun, onProgress, ...dropUndefined({ minAge }) })
        await output.answer({ dryRun, ...report }, () => sweepText(report, dryRun))
      })
    })
}

function sweepText({ examined, orphaned, removed }: SweepReport, dryRun: boolean): string {
  const done = dryRun ? `${orphaned} would be removed` : `${removed} were removed`
  return `${examined} objects were examined; ${done}.`
}

function noBucket(): EngineError {
  return new EngineError('invalid_configuration', {
    field: 'codec.folder',
    message:
      'No bucket is set: set codec.folder or codec.bucket.endpoint, as the programs that offload values have it.',
  })
}
