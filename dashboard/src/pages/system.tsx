import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { useSession } from '../api/session.tsx'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { durationText } from '../parts/time.tsx'
import { Empty, Facts, Loaded, Page, Panel } from '../parts/views.tsx'

const POLL_MS = 5_000

export function SystemPage() {
  const version = useQuery({ queryKey: ['version'], queryFn: ({ signal }) => call('getVersion', { signal }) })
  const scanners = useQuery({
    queryKey: ['scanners'],
    queryFn: ({ signal }) => call('listScanners', { signal }),
    refetchInterval: POLL_MS,
  })
  const session = useSession()
  return (
    <Page title="System">
      <Panel title="Server and store">
        <Loaded query={version}>
          {({ version: server, store }) => (
            <>
              <Facts
                facts={[
                  ['FlowFabric', server],
                  ['Store', <Text key="store">{`${store.kind} ${store.version}`}</Text>],
                  ['Level', store.level],
                  ['You', <Text key="you">{`${session.name}, ${session.role}`}</Text>],
                ]}
              />
              <p className="muted">
                Durability: <Text>{store.durability}</Text>.
              </p>
              {store.warnings.map((warning) => (
                <p key={warning} className="notice" data-kind="forbidden">
                  <Text>{warning}</Text>
                </p>
              ))}
            </>
          )}
        </Loaded>
      </Panel>
      <Panel title="Scanners of the engine in this server">
        <Loaded query={scanners}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="This server runs no engine">An engine runs in a worker, or elsewhere.</Empty>
            ) : (
              <table>
                <thead>
                  <tr>
                    <th scope="col">Scanner</th>
                    <th scope="col">State</th>
                    <th scope="col">Every</th>
                    <th scope="col">Last cycle</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((scanner) => (
                    <tr key={scanner.scanner}>
                      <td>{scanner.scanner.replaceAll('_', ' ')}</td>
                      <td>
                        <State state={scanner.kind} />
                      </td>
                      <td className="number">{scanner.everyMs === undefined ? '' : durationText(scanner.everyMs)}</td>
                      <td className="muted">
                        <Text>{cycleWords(scanner)}</Text>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  )
}

/** Scanners report what they count; only the numbers are shown, and only those that are not zero. */
function cycleWords(scanner: object): string {
  const parts: string[] = []
  const visit = (value: unknown, name: string) => {
    if (typeof value === 'number' && value !== 0 && !name.endsWith('At'))
      parts.push(`${wordsOf(name)} ${value.toLocaleString('en')}`)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [key, part] of Object.entries(value)) visit(part, key)
    }
  }
  for (const [key, value] of Object.entries(scanner)) {
    if (key !== 'scanner' && key !== 'kind' && key !== 'everyMs') visit(value, key)
  }
  return parts.slice(0, 6).join(' · ')
}

function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/ ms$/, ' ms:')
}
