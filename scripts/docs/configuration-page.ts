/** Writes docs/configuration.md: every setting with its variable, its flag and its default. */
import { CONFIG_FILE_DEFAULT } from '../../src/cli/config/config-file.ts'
import { CONFIG_FILE_VARIABLE, settingNames, settings } from '../../src/cli/config/settings.ts'
import type { Setting } from '../../src/cli/config/settings.ts'
import { GENERATED, code, table } from './markdown.ts'

function rows(): string[][] {
  return settingNames.map((name) => {
    const { variable, flag, kind, fallback, about }: Setting = settings[name]
    return [code(name), code(variable), flag === undefined ? '' : code(flag), kind.text, fallback, about]
  })
}

export function configurationPage(): string {
  return `${GENERATED}

# Configuration

The command \`flowfabric\` takes its settings from four places. The first one that has a value applies:

1. a flag of the command, such as ${code('--port 8080')}
2. a variable of the environment, such as ${code('FLOWFABRIC_SERVER_PORT=8080')}; an empty one counts as unset
3. a file of settings: the one that ${code('--config')} or ${code(CONFIG_FILE_VARIABLE)} names, else ${code(CONFIG_FILE_DEFAULT)} in the working directory, if it exists
4. the default

Programs that call ${code('createFabric')} pass their settings in code. Of these places they read only ${code('FLOWFABRIC_KEYS_FILE')}.

The file is JSON. Its objects nest as the names of the settings do:

\`\`\`json
{
  "store": "postgres://fabric@db.internal/shop",
  "postgres": { "passwordFile": "/run/secrets/postgres" },
  "server": { "host": "0.0.0.0", "port": 8080, "tokensFile": "/etc/flowfabric/tokens" }
}
\`\`\`

Relative paths start at the working directory. An unknown setting in the file is refused, and the error names the one that was probably meant. A
variable that begins with ${code('FLOWFABRIC_')} and resembles a setting is reported and ignored. Lists are separated by commas in a variable.

${code('flowfabric config')} prints the value of each setting and where it comes from. Secrets are not shown. ${code('flowfabric doctor')} also
checks that other users of the machine cannot read the files that contain them.

Keep passwords in files: set ${code('FLOWFABRIC_VALKEY_PASSWORD_FILE')} or ${code('FLOWFABRIC_POSTGRES_PASSWORD_FILE')}. A line break at the end of the file is not
part of the password. If the location of the store contains a password, the user and the password of these settings are ignored.

## Settings

${table(['Setting', 'Variable', 'Flag', 'Value', 'Default', 'Meaning'], rows())}
`
}
