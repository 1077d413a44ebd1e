import { Command } from 'commander'
import { isSettingName, settingNames, settings } from '../config/settings.ts'
import type { SettingName } from '../config/settings.ts'
import type { Configuration, Source } from '../config/configuration.ts'
import { secret } from '../config/kinds.ts'
import { suggestion } from '../../options/nearest.ts'
import { invalidInput, show } from '../../client/index.ts'
import { examples } from '../args/help.ts'
import { hidePassword } from '../text/hide-password.ts'
import { printable } from '../text/printable.ts'
import type { Output } from '../text/output.ts'
import type { Shell } from '../session/shell.ts'
import { table } from '../text/table.ts'

interface ConfigItem {
  readonly name: SettingName
  /** Absent if the setting has no value. Secrets are never shown. */
  readonly value?: unknown
  readonly isHidden?: true
  readonly source: Source | { readonly kind: 'default' }
  readonly default: string
}

export function configCommand(shell: Shell): Command {
  return new Command('config')
    .description('print the settings that apply here and where each comes from: flag, environment, file or default')
    .argument('[name]', 'one setting, such as server.port')
    .addHelpText('after', examples(['config', 'config server.port', 'config --json']))
    .action(async (name: string | undefined, _flags: object, command: Command) => {
      const configuration = shell.configuration(command)
      const output = shell.output(command)
      const items = namesFor(name).map((each) => itemOf(configuration, each))
      const warnings = configuration.warnings()
      await output.answer({ file: configuration.file?.path, items, warnings }, () => {
        const header = ['SETTING', 'VALUE', 'FROM'].map((title) => output.style('dim', title))
        return table([header, ...items.map((item) => rowOf(item, output))])
      })
      for (const warning of warnings) output.remark(warning)
    })
}

function namesFor(name: string | undefined): readonly SettingName[] {
  if (name === undefined) return settingNames
  if (isSettingName(name)) return [name]
  const advice = suggestion(name, settingNames) || ' Run flowfabric config to list all.'
  throw invalidInput('name', `${show(name)} is not a setting.${advice}`)
}

function itemOf(configuration: Configuration, name: SettingName): ConfigItem {
  const found = configuration.resolve(name)
  const fallback = settings[name].fallback.replaceAll('`', '')
  if (found === undefined) return { name, source: { kind: 'default' }, default: fallback }
  const { value, source } = found
  if (settings[name].kind === secret) return { name, isHidden: true, source, default: fallback }
  return { name, value: typeof value === 'string' ? hidePassword(value) : value, source, default: fallback }
}

function rowOf(item: ConfigItem, output: Output): string[] {
  if (item.source.kind === 'default') return [item.name, item.default, output.style('dim', 'default')].map(String)
  return [item.name, item.isHidden === true ? '(hidden)' : valueText(item.value), fromText(item.source)]
}

function valueText(value: unknown): string {
  return printable(Array.isArray(value) ? value.join(', ') : String(value))
}

function fromText({ kind, name }: Source): string {
  return kind === 'environment' ? name : `${kind} ${printable(name)}`
}
